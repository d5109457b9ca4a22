#!/usr/bin/env bash
# Measures a model in every job mode, alone and while one busy loop ("neighbour") runs on every core:
# throughput, and median and 99th percentile of the latency of jobs that run one after another; medians
# of ROUNDS. If MILLRACE_PEERS names a folder with ONNX Runtime (bench/peers/fetch.sh), that is compared
# in both states, too. Run it with the normal priority: a real-time priority would displace the
# neighbours.
# usage: bench/neighbours.sh BUILD_FOLDER MODEL.onnx [ROUNDS [SECONDS]]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: bench/neighbours.sh BUILD_FOLDER MODEL.onnx [ROUNDS [SECONDS]]}
model=${2:?no model}
rounds=${3:-3}
seconds=${4:-2}
work=$(mktemp -d)
neighbours=()
leave() {
  ((${#neighbours[@]} == 0)) || kill "${neighbours[@]}"
  wait
  neighbours=()
}
trap 'leave 2>/dev/null; rm -rf "$work"' EXIT
"$build/bin/millrace" compile "$model" -o "$work/model.rai" >/dev/null

come() {
  for ((core = 0; core < $(nproc); ++core)); do
    (while :; do :; done) &
    neighbours+=($!)
  done
}
bench() { # MODE STATE SCENARIO JSON_FIELD: appends the number to the file MODE-STATE-FIELD
  MILLRACE_JOB_MODE=$1 "$build/bin/millrace" bench "$work/model.rai" --scenario "$3" \
    --duration "$seconds" --json | sed -n "s/.*\"$4\":\([0-9.]*\).*/\1/p" >>"$work/$1-$2-$4"
}
median() { sort -n "$work/$1" | sed -n "$((rounds / 2 + 1))p"; }
beside() {
  come
  "$@"
  leave 2>/dev/null
}

for ((round = 0; round < rounds; ++round)); do
  for mode in adaptive latency throughput; do
    for figure in 'offline frames_per_second' 'single-stream p99' 'single-stream median'; do
      # shellcheck disable=SC2086  # two words
      bench $mode alone $figure
      # shellcheck disable=SC2086
      beside bench $mode beside $figure
    done
  done
done
printf '%-11s %10s %10s %7s %10s %10s %7s %10s\n' mode frames/s beside share 'p99 ms' beside ratio median
for mode in adaptive latency throughput; do
  awk -v mode=$mode -v f="$(median $mode-alone-frames_per_second)" \
    -v fb="$(median $mode-beside-frames_per_second)" -v p="$(median $mode-alone-p99)" \
    -v pb="$(median $mode-beside-p99)" -v m="$(median $mode-beside-median)" 'BEGIN {
    printf "%-11s %10.1f %10.1f %7.2f %10.2f %10.2f %7.2f %10.2f\n", mode, f, fb, fb / f, p, pb, pb / p, m }'
done
[[ -n ${MILLRACE_PEERS:-} ]] || exit 0
compare() { # STATE
  printf '\nbeside ONNX Runtime, %s\n' "$1"
  "$build/bench/peer_compare" --threads "$(nproc)" --throughput --rounds "$rounds" \
    --seconds "$seconds" --least 0.001 "$model"
}
compare alone
beside compare 'with neighbours'
