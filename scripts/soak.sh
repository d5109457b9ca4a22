#!/usr/bin/env bash
# Brings a build up to date and runs the soak test on it: random submit, cancel, deadline, fault and reset
# from eight threads. Prints memory, descriptors and threads every five seconds and the counts at the end;
# fails when a job was lost or memory, descriptors or threads grow. With FAIL_EVERY, every FAIL_EVERY-th
# allocation of the library fails, too.
# usage: scripts/soak.sh [BUILD_FOLDER [SECONDS [SEED [FAIL_EVERY]]]]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
seconds=${2:-600}
seed=${3:-$(date +%s)}
fail_every=${4:-0}
[[ -f $build/build.ninja ]] || cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release
targets=(soak_test)
preload=
if ((fail_every > 0)); then
  targets+=(millrace_failing)
  preload=$(realpath -m "$build")/tests/plugins/libmillrace_failing.so
fi
cmake --build "$build" --target "${targets[@]}"
command=("$build/tests/soak_test" --seconds "$seconds" --seed "$seed" --fail-every "$fail_every")
echo "${command[@]}"
LD_PRELOAD=$preload "${command[@]}"
