#!/usr/bin/env bash
# Three servers behind HAProxy under load, of which one is killed: clients that send refused and lost
# requests again lose nothing. Runs the load without and with that, and prints what became of all requests.
# Ends with 77 where HAProxy is not installed (apt-get install haproxy).
#
# usage: scripts/replicas.sh [BUILD] [REQUESTS-PER-SECOND] [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."
readonly build=${1:-build/release} rate=${2:-300} seconds=${3:-6}
readonly program=$build/bin/millrace model=models/glyphs/glyphs.onnx

PATH=$PATH:/usr/sbin
command -v haproxy >/dev/null || { echo "replicas: skipped: haproxy is not installed" >&2; exit 77; }
folder=$(mktemp -d)
started=()
end() {
  kill -9 "${started[@]}" 2>/dev/null || true
  rm -r "$folder"
}
trap end EXIT

# Starts a server on a free port; `port` and `pid` are its.
start_server() { # NAME
  "$program" serve "$model" --http-port 0 >"$folder/$1" 2>/dev/null &
  pid=$!
  disown  # bash would say that it was killed
  started+=("$pid")
  for _ in {1..200}; do
    port=$(sed -n 's/^ready: .*http:[^:]*:\([0-9]*\).*/\1/p' "$folder/$1")
    [[ -n $port ]] && return
    sleep 0.1
  done
  echo "replicas: a server does not start" >&2
  exit 1
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# HAProxy asks each server ten times a second whether it is ready.
start_proxy() { # PORT...
  front=$(free_port)
  {
    printf '%s\n' 'defaults' '  mode http' '  timeout connect 1s' '  timeout client 60s' \
      '  timeout server 60s' '  option redispatch' 'frontend clients' "  bind 127.0.0.1:$front" \
      '  default_backend replicas' 'backend replicas' '  balance leastconn' \
      '  option httpchk GET /v2/health/ready' '  default-server check inter 100ms fall 1 rise 1'
    for port in "$@"; do echo "  server s$port 127.0.0.1:$port"; done
  } >"$folder/haproxy.cfg"
  haproxy -db -f "$folder/haproxy.cfg" 2>"$folder/haproxy.txt" &
  started+=("$!")
  disown
  for _ in {1..100}; do
    curl -fs "http://127.0.0.1:$front/v2/models/glyphs/ready" >/dev/null && return
    sleep 0.1
  done
  cat "$folder/haproxy.txt" >&2
  exit 1
}

# A third of the time after the start, one of the servers is killed.
run() { # RETRIES
  local ports=() victim
  for name in a b c; do
    start_server "$name"
    ports+=("$port")
    victim=$pid
  done
  start_proxy "${ports[@]}"
  { sleep "$((seconds / 3))"; kill -9 "$victim" 2>/dev/null; } &
  "$program" bench --url "http://127.0.0.1:$front" --model glyphs --scenario server --qps "$rate" \
    --duration "${seconds}s" --retries "$1" --json >"$folder/run.json"
  kill -9 "${started[@]}" 2>/dev/null || true
  started=()
  python3 - "$1" "$folder/run.json" <<'END'
import json, sys
run = json.load(open(sys.argv[2]))
lost = run["jobs"] - run["served"]
print(f'--retries {sys.argv[1]}: {run["jobs"]} requests, {run["served"]} served, {lost} lost '
      f'({run["refused"]} refused, {run["late"]} late, {run["failed"]} failed), '
      f'{run.get("retried", 0)} sent again')
sys.exit(lost > 0 and int(sys.argv[1]) > 0)
END
}

run 0
run 20
