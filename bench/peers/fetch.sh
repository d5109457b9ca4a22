#!/usr/bin/env bash
# Gets ONNX Runtime, the peer of the benchmarks: the npm package onnxruntime-node, whose library is
# for Linux on x64 and arm64. Nothing of it is in this repository, and no script of it runs.
#
# Prints the folder for MILLRACE_PEERS. If the variable is set already, the folder it names is taken,
# and nothing is fetched. Ends with 77, "skipped", and a line that says why, where it cannot be had.
# usage: bench/peers/fetch.sh [FOLDER]     build/peers where none is named
set -euo pipefail
cd "$(dirname "$0")/../.."
version=1.30.0
folder=${MILLRACE_PEERS:-$(realpath -m "${1:-build/peers}")}

skip() {
  printf 'bench/peers/fetch.sh: no ONNX Runtime to compare with: %s\n' "$1" >&2
  exit 77
}

has_library() { compgen -G "$folder/node_modules/onnxruntime-node/bin/*/linux/*/libonnxruntime.so*" >/dev/null; }

if ! has_library; then
  [[ -z ${MILLRACE_PEERS:-} ]] || skip "there is no onnxruntime-node in $MILLRACE_PEERS"
  command -v npm >/dev/null || skip 'there is no npm (Debian: apt-get install npm)'
  mkdir -p "$folder"
  npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error \
    "onnxruntime-node@$version" >&2 || skip "npm cannot fetch onnxruntime-node@$version"
  has_library || skip 'the package has no library for this machine'
fi
printf '%s\n' "$folder"
