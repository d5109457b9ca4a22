#!/usr/bin/env bash
# A client in another language: gRPC's library for Node, fetched from npm, calls every method of the
# protocol on a server. Ends with 77 where Node is missing or its packages cannot be had.
#
# usage: scripts/node-client.sh [BUILD] [PROTO]    PROTO: another definition, as the published one
set -euo pipefail
cd "$(dirname "$0")/.."
readonly build=${1:-build/release} proto=${2:-src/serve/grpc/open_inference.proto}
skip() { echo "node-client: skipped: $*" >&2; exit 77; }
for program in node npm; do
  command -v $program >/dev/null || skip "$program is not installed"
done

folder=$(mktemp -d)
server=
end() {
  if [[ -n $server ]]; then
    kill "$server"
    wait "$server" || true
  fi
  rm -r "$folder"
}
trap end EXIT
cp tests/serve/node_client/{package.json,client.js} "$folder"
(cd "$folder" && npm install --no-audit --no-fund --silent) >"$folder/npm.txt" 2>&1 ||
  skip "npm cannot fetch the packages: $(tail -n 1 "$folder/npm.txt")"

mkdir "$folder/models"
cp models/glyphs/glyphs.onnx "$folder/models"
"$build/bin/millrace" serve "$folder/models" --http-port 0 --grpc-port 0 --model-control \
  --shared-memory >"$folder/ready" &
server=$!
port=
for _ in {1..200}; do
  port=$(sed -n 's/.*port \([0-9]*\)$/\1/p' "$folder/ready")
  [[ -n $port ]] && break
  sleep 0.1
done
[[ -n $port ]] || { echo "node-client: the server does not start" >&2; exit 1; }
node "$folder/client.js" "$proto" "127.0.0.1:$port"
