#!/usr/bin/env bash
# Installs ONNX Runtime, the peer of the benchmarks: the npm package onnxruntime-node, which has
# libraries for Linux on x64 and arm64. No part of it is in this repository, and none of its scripts
# runs.
#
# Prints the folder for MILLRACE_PEERS. If the variable is already set, uses the folder that it names,
# and fetches nothing. If ONNX Runtime cannot be installed, prints the reason, and the exit status is 77
# ("skipped").
# usage: bench/peers/fetch.sh [FOLDER]     the default is build/peers
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
