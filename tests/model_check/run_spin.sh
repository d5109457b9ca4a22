#!/usr/bin/env bash
# Verifies a model with spin, over all of its states, or checks that the verification finds a plant.
# usage: tests/model_check/run_spin.sh holds|found MODEL [-DNAME...]
#   tests/model_check/run_spin.sh holds queue -DWATCHDOG
#   tests/model_check/run_spin.sh found queue -DWAITERS=1 -DSKIP_RECHECK_BEFORE_PARK
# Exit status 77: spin or gcc (which spin uses, too) is missing.
set -euo pipefail
if [[ $# -lt 2 || ! $1 =~ ^(holds|found)$ ]]; then
  sed -n '3,5s/^# //p' "$0" >&2
  exit 2
fi
expected=$1
model=$(cd "$(dirname "$0")" && pwd)/$2.pml
shift 2

for tool in spin gcc; do
  command -v "$tool" >/dev/null || {
    echo "skipped: $tool is not installed"
    exit 77
  }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$model" "$work"
cd "$work"
model=$(basename "$model")

# spin says what it does not understand on standard output, and ends well.
spin -a "$@" "$model" >spin.log
if [[ -s spin.log || ! -f pan.c ]]; then
  cat spin.log >&2
  exit 1
fi
# MEMLIM in megabytes. SAFETY: assertions and invalid end states are all there is to find.
gcc -O1 -w -DSAFETY -DCOLLAPSE -DMEMLIM=2048 -o pan pan.c
./pan -m100000 >pan.log || true

complete() { ! grep -Eq 'max search depth too small|out of memory|search not completed' pan.log; }
states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)
finding=$(sed -n 's/^pan:1: //p' pan.log)

if [[ -z $finding && -n $states ]] && complete; then
  echo "holds in $states states"
  [[ $expected == holds ]] && exit 0
  echo 'the plant was not found' >&2
elif [[ $finding == *'assertion violated'* || $finding == *'invalid end state'* ]]; then
  echo "found after $states states: $finding"
  [[ $expected == found ]] && exit 0
  echo 'the steps that lead there:' >&2
  spin -t -p "$@" "$model" >&2
else
  cat pan.log >&2
fi
exit 1
