#!/usr/bin/env bash
# Brings a build up to date and runs the soak test on it: random submit, cancel, deadline, fault and reset
# from eight threads. Prints the counts, and fails when a job was lost.
# usage: scripts/soak.sh [BUILD_FOLDER [SECONDS [SEED]]]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
seconds=${2:-600}
seed=${3:-$(date +%s)}
[[ -f $build/build.ninja ]] || cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release
cmake --build "$build" --target soak_test
echo "$build/tests/soak_test --seconds $seconds --seed $seed"
"$build/tests/soak_test" --seconds "$seconds" --seed "$seed"
