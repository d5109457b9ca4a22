#!/usr/bin/env bash
# Runs COUNT random graphs on the CPU device and compares their results with the plain kernels'.
# Seeds count from SEED (default 0) on; each makes the same graph every time. Ends with 1 when a
# result was wrong, and prints the graph and the command that repeats it.
#
#   scripts/random-graphs.sh 200000         as many at a time as there are cores, or JOBS
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
# Also where BF16 is slow.
export MILLRACE_NO_BF16=0 MILLRACE_COLUMN_TABLE=off

[[ -f $build/build.ninja ]] || cmake --preset release >/dev/null
cmake --build "$build" --target random_graphs >/dev/null

# A process checks so many graphs: what one crashes on costs the others of its share only.
share=1000
for ((first = seed; first < seed + count; first += share)); do
  left=$((seed + count - first))
  echo "$((left < share ? left : share)) $first"
done | xargs -P "${JOBS:-$(nproc)}" -L 1 "$build/tests/check_random_graphs"
