#!/usr/bin/env bash
# Loads `millrace serve` for a while with requests that fail and come too late, models that are
# loaded again, and clients that vanish; and compares what they saw with the access log: every
# request that was accepted is answered once, and the memory stays flat. Not part of the CI.
#
# Jobs that hang keep their memory, so there are none, unless MILLRACE_FAULTS says so; the memory is
# not flat then.
#
# usage: scripts/soak-serve.sh [BUILD [SECONDS]], by default build/release and 600 s
set -euo pipefail
cd "$(dirname "$0")/.."
readonly build=${1:-build/release} seconds=${2:-600}
work=$(mktemp -d)
readonly work

server=
end() {
  [[ -z $server ]] || kill -KILL "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT

mkdir -p "$work/models/glyphs/1"
cp models/glyphs/glyphs.onnx "$work/models/glyphs/1/model.onnx"
printf '{"queue_depth": 4, "when_full": "drop-oldest", "timeout": "2s"}\n' \
  >"$work/models/glyphs/millrace.json"

export MILLRACE_WATCHDOG=200ms
export MILLRACE_FAULTS=${MILLRACE_FAULTS-fail:p=1%; slow:p=5%,for=20ms; nan:p=1%; seed=7}
"$build/bin/millrace" serve "$work/models" --http-port 0 --model-control --drain 20s \
  --access-log "$work/access.log" >"$work/ready" 2>"$work/errors" &
server=$!
for _ in {1..200}; do
  [[ -s $work/ready ]] && break
  kill -0 "$server" 2>/dev/null || { cat "$work/errors" >&2; exit 1; }
  sleep 0.1
done
port=$(sed -n 's/^ready: .*:\([0-9]*\)$/\1/p' "$work/ready")

rc=0
python3 scripts/soak_serve_load.py "$port" "$server" "$seconds" "$work/ledger.json" || rc=$?
kill -TERM "$server"
code=0
wait "$server" || code=$?
server=
((code == 0)) || { echo "soak-serve: the server ended with $code" >&2; cat "$work/errors" >&2; rc=1; }
python3 scripts/soak_serve_load.py --compare "$work/ledger.json" "$work/access.log" || rc=1
exit "$rc"
