#!/usr/bin/env bash
# Runs the tests with 1, 2 and 4 lanes, whatever the machine has.
# FILTER is a regular expression for the names of tests, as `ctest -R` takes it. Tests that ask for a
# number of lanes themselves have that one each time.
# usage: scripts/test-lanes.sh [BUILD_FOLDER [FILTER]]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
filter=${2:-.}
failed=0
for lanes in 1 2 4; do
  printf '\n== MILLRACE_LANES=%s\n' "$lanes"
  MILLRACE_LANES=$lanes ctest --test-dir "$build" -R "$filter" -j"$(nproc)" --output-on-failure \
    --no-tests=error --progress || failed=1
done
exit $failed
