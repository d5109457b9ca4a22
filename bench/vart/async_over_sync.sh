#!/usr/bin/env bash
# Runs the benchmark of the sample, `vart_infer_async --benchmark`, alternately pinned to one core and
# on all cores, and prints the ratios of the medians. The asynchronous pass keeps two jobs in flight.
# usage: bench/vart/async_over_sync.sh BUILD_FOLDER MODEL.onnx [ROUNDS [ITERATIONS]]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:?usage: bench/vart/async_over_sync.sh BUILD_FOLDER MODEL.onnx [ROUNDS [ITERATIONS]]}
model=${2:?no model}
rounds=${3:-5}
iterations=${4:-100}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/bin/millrace" compile "$model" -o "$work/model.rai" >/dev/null

pass() { # NAME COMMAND...: appends the milliseconds per frame of both passes to files NAME-async, NAME-sync
  local name=$1
  shift
  "$@" "$build/bin/vart_infer_async" --benchmark --dry-run -n "$iterations" "$work/model.rai" |
    sed -n 's|.* \(a*sync\) infer pass: .* (\([0-9.]*\) ms/frame).*|\1 \2|p' |
    while read -r kind each; do echo "$each" >>"$work/$name-$kind"; done
}
median() { sort -n "$work/$1" | sed -n "$((rounds / 2 + 1))p"; }

for ((round = 0; round < rounds; ++round)); do
  pass one taskset -c 0
  pass all env
done
printf 'ms per frame, medians of %d: one core: async %s, sync %s; all cores: async %s, sync %s\n' \
  "$rounds" "$(median one-async)" "$(median one-sync)" "$(median all-async)" "$(median all-sync)"
awk -v oa="$(median one-async)" -v os="$(median one-sync)" -v aa="$(median all-async)" \
  -v as="$(median all-sync)" 'BEGIN {
  printf "async over sync, one core                     %.3f (target 0.97)\n", os / oa
  printf "async over sync, all cores                    %.3f (target 1.0)\n", as / aa
  printf "async on all cores over sync on one           %.3f (target 1.85 on two cores)\n", os / aa }'
