#!/usr/bin/env bash
# Lets every allocation, mapping, file in memory, thread and event fd of a program fail once, at each
# face, then every allocation from the N-th on, and prints what became of it: see docs/reliability.md.
# usage: scripts/sweep-resources.sh [DEVICE [BUILD_FOLDER]]
set -euo pipefail
cd "$(dirname "$0")/.."
device=${1:-null}
build=${2:-build/release}
[[ -f $build/build.ninja ]] || cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release
cmake --build "$build" --target failing_resources_sweep >/dev/null
build=$(realpath "$build")
failed=0
for face in native vart nrt; do
  for resource in memory mapping file thread event 'memory --every 1'; do
    # shellcheck disable=SC2086  # a resource, perhaps with an option
    LD_PRELOAD=$build/tests/plugins/libmillrace_failing.so \
      "$build/tests/failing_resources_sweep" "$face" $resource --device "$device" || failed=1
  done
done
exit $failed
