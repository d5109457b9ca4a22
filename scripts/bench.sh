#!/usr/bin/env bash
# Runs the benchmarks of a build, then `millrace bench` on models. The comparison with ONNX Runtime is
# bench/peers/compare.mjs (see docs/performance.md).
# usage: scripts/bench.sh BUILD_FOLDER [MODEL.onnx...]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: scripts/bench.sh BUILD_FOLDER [MODEL.onnx...]}
shift
for program in "$build"/bench/*_bench; do
  printf '\n== %s\n' "${program##*/}"
  "$program"
done

models=("$@")
[[ ${#models[@]} -gt 0 ]] || models=(models/glyphs/glyphs.onnx)
printf '\n== millrace bench\n'
for model in "${models[@]}"; do
  "$build/bin/millrace" bench "$model"
done
