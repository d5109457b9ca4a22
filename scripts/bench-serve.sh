#!/usr/bin/env bash
# Measures `millrace serve` over loopback, and prints the table of docs/serving.md: the latency of one
# client beside servers that only echo, the throughput and the latencies of a real model beside the
# same model without a server and beside an ideal queue, what overload does, and what idle
# connections and an oversized request cost. Takes about two minutes, on a machine without other work.
#
# MODEL names the model of the second part, ../shared/models/models/mobilenetv2_fp32.onnx where it is
# unset; without that file the part is left out. SECONDS_EACH is the time of each of its runs, 10.
# usage: scripts/bench-serve.sh [BUILD]      needs the targets millrace_cli, millrace_serve_program,
#                                            millrace-cpu and serve_latency
set -euo pipefail
cd "$(dirname "$0")/.."
readonly build=${1:-build/release} seconds=${SECONDS_EACH:-10}
readonly model=${MODEL:-../shared/models/models/mobilenetv2_fp32.onnx}
readonly millrace=$build/bin/millrace latency=$build/bench/serve_latency
lanes=$(nproc)
readonly lanes

for program in "$millrace" "$build/bin/millrace-serve" "$latency"; do
  [[ -x $program ]] || { echo "bench-serve: $program is missing: build it first" >&2; exit 1; }
done
work=$(mktemp -d)
readonly work
started=()
end() {
  ((${#started[@]} == 0)) || kill -9 "${started[@]}" 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT

# Ends what was started.
stop() {
  kill "${started[@]}" 2>/dev/null || true
  wait "${started[@]}" 2>/dev/null || true
  started=()
}

serve() { # NAME OPTION...
  local name=$1
  shift
  : >"$work/$name"
  "$millrace" serve "$@" --http-port 0 >"$work/$name" 2>"$work/$name.errors" &
  started+=("$!")
  server=$!
  for _ in {1..300}; do
    [[ -s $work/$name ]] && break
    kill -0 "$server" 2>/dev/null || { cat "$work/$name.errors" >&2; exit 1; }
    sleep 0.1
  done
  port=$(sed -n 's/^ready: .*http:\/\/[^:]*:\([0-9]*\).*/\1/p' "$work/$name")
  grpc_port=$(sed -n 's/.*for gRPC, port \([0-9]*\)$/\1/p' "$work/$name")
}

echo_server() { # THREADS
  "$latency" echo "$1" >"$work/echo$1" &
  started+=("$!")
  for _ in {1..100}; do
    [[ -s $work/echo$1 ]] && break
    sleep 0.1
  done
  read -r _ "http$1" _ "grpc$1" <"$work/echo$1"
}

row() { printf '| %s | %s | %s |\n' "$@"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
# The median of three rounds, in which the servers take turns.
middle() { sort -n "$1" | sed -n 2p; }

printf '%s, %s cores\n\n| what | measured | aim |\n|---|---|---|\n' "$(date +%F)" "$lanes"

# One client, and models that take no time.
serve null models/glyphs/glyphs.onnx --device null --grpc-port 0
null_http=$port null_grpc=$grpc_port
echo_server 0
echo_server 2
for _ in 1 2 3; do
  for protocol in http grpc; do
    for who in null echo0 echo2; do
      case $who in
        null) to=null_$protocol ;;
        echo*) to=$protocol${who#echo} ;;
      esac
      "$latency" "$protocol" "${!to}" 4000 >>"$work/$protocol.$who"
    done
  done
done
stop
for protocol in http grpc; do
  ours=$(middle "$work/$protocol.null")
  bare=$(middle "$work/$protocol.echo0") alike=$(middle "$work/$protocol.echo2")
  name=HTTP aim=60
  [[ $protocol == http ]] || name=gRPC aim=120
  row "one client, \`--device null\`, $name raw, p50" "$ours us" "$aim us"
  row "the same request to a server that echoes it on the thread of its connections" "$bare us, ratio $(ratio "$ours" "$bare")" "1.25"
  row "and to one that passes it to two further threads, as jobs and answers have" "$alike us, ratio $(ratio "$ours" "$alike")" "1.25"
done

# The value of a key of a file in JSON, as latency_ms.p99.
value() { # FILE KEY
  python3 -c '
import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("."): value = value[key]
print(f"{value:.4g}" if isinstance(value, float) else value)' "$work/$1.json" "$2"
}
load() { # NAME OPTION...
  local name=$1
  shift
  "$millrace" bench --url "http://127.0.0.1:$port" --model "$served" --duration "${seconds}s" "$@" \
    --json >"$work/$name.json"
}
at() { awk -v part="$1" -v rate="$rate" 'BEGIN { printf "%.1f", part * rate }'; }

if [[ -f $model ]]; then
  served=$(basename "${model%.*}")
  "$millrace" bench "$model" --scenario offline --duration "${seconds}s" --json >"$work/alone.json"
  alone=$(value alone frames_per_second)
  serve deep "$model" --units "$lanes"
  load sixteen --scenario offline --in-flight 16
  rate=$(value sixteen served_per_second)
  load usual --scenario server --qps "$(at 0.7)" --lanes "$lanes"
  stop
  serve real "$model" --units "$lanes" --queue-depth 4
  load busy --scenario server --qps "$(at 0.9)" --lanes "$lanes"
  load over --scenario server --qps "$(at 1.5)" --lanes "$lanes"
  stop
  row "$served FP32, 16 clients, requests/s beside \`millrace bench --scenario offline\`" \
    "$rate of $alone, ratio $(ratio "$rate" "$alone")" "0.93"
  p99=$(value usual latency_ms.p99) ideal=$(value usual server.ideal_p99_ms)
  row "p99 at 70 % of that rate beside the ideal queue's" "$p99 of $ideal ms, ratio $(ratio "$p99" "$ideal")" "1.5"
  p99=$(value over latency_ms.p99) busy=$(value busy latency_ms.p99)
  row "p99 of served requests at 150 % beside that at 90 %, \`--queue-depth 4\`" \
    "$p99 of $busy ms, ratio $(ratio "$p99" "$busy")" "2"
  row "refusals at 150 %: $(value over refused) of $(value over jobs)" \
    "p50 $(value over refusal_ms.median) ms, p99 $(value over refusal_ms.p99) ms" "5 ms"
fi

# Idle connections, and a body that is never read.
serve idle models/glyphs/glyphs.onnx --device null
python3 - "$port" "$server" >"$work/idle.txt" <<'END'
import os, resource, socket, sys, time

port, pid = int(sys.argv[1]), sys.argv[2]
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def megabytes():
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def ask(connection, text):
    connection.sendall(text)
    return connection.recv(65536)


before, idle = megabytes(), []
for _ in range(min(10_000, hard - 100)):
    idle.append(socket.create_connection(("127.0.0.1", port)))
    ask(idle[-1], b"GET /v2/health/live HTTP/1.1\r\nHost: h\r\n\r\n")
print(f"{len(idle)} {before:.1f} {megabytes():.1f}")
for connection in idle:
    connection.close()
large = socket.create_connection(("127.0.0.1", port))
ask(large, b"GET /v2/health/live HTTP/1.1\r\nHost: h\r\n\r\n")  # behind the ends of the others
begin = time.monotonic()
answer = ask(large, b"POST /v2/models/glyphs/infer HTTP/1.1\r\nHost: h\r\nContent-Length: 1073741824\r\n\r\n")
print(f"{answer.split()[1].decode()} {1e3 * (time.monotonic() - begin):.2f}")
END
stop
{
  read -r count before after
  read -r status milliseconds
} <"$work/idle.txt"
row "memory with $count idle connections" "$after MB, $before MB without them" "200 MB"
row "1 GiB of JSON" "$status after $milliseconds ms, before it is sent" "refused unread"
