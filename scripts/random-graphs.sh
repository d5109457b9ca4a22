#!/usr/bin/env bash
# Runs COUNT random graphs on the CPU device and compares their results with those of the plain
# kernels. Seeds count from SEED (default 0) on; a seed always makes the same graph. If a result is
# wrong, it prints the graph and a command that repeats it, and ends with 1. If the process crashes,
# it finds out which graph does that, and goes on.
#
#   scripts/random-graphs.sh 200000         one process per core, or JOBS processes, at a time
#   scripts/random-graphs.sh 1 4711         one graph again
#   MILLRACE_MAX_ISA=avx2 scripts/random-graphs.sh 5000
#
# BUILD is the folder of the build, build/release by default.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
if [[ ! ${1:-} =~ ^[0-9]+$ || ! ${2:-0} =~ ^[0-9]+$ ]]; then
  echo 'usage: scripts/random-graphs.sh COUNT [SEED]' >&2
  exit 2
fi
count=$1 seed=${2:-0}
# BF16 is tested even where it is slow.
export MILLRACE_NO_BF16=0 MILLRACE_COLUMN_TABLE=off

[[ -f $build/build.ninja ]] || cmake --preset release >/dev/null
cmake --build "$build" --target random_graphs >/dev/null

export checker=$build/tests/check_random_graphs

# Checks the graphs in one process; if that crashes, each of them in a process of its own.
check_share() {
  local count=$1 first=$2 seed status=0 output
  "$checker" "$count" "$first" || status=$?
  ((status <= 1)) && return "$status"
  for ((seed = first; seed < first + count; ++seed)); do
    status=0
    output=$("$checker" 1 "$seed" 2>&1) || status=$?
    ((status == 0)) || echo "$output"
    ((status <= 1)) || echo "seed $seed crashes: the process ends with status $status"
  done
  return 1
}
export -f check_share

share=1000
for ((first = seed; first < seed + count; first += share)); do
  left=$((seed + count - first))
  echo "$((left < share ? left : share)) $first"
done | xargs -P "${JOBS:-$(nproc)}" -L 1 bash -c 'check_share "$@"' check_share
