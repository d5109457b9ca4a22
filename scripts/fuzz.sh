#!/usr/bin/env bash
# Runs the fuzz targets: programs that give random bytes to everything that reads what comes from
# outside. Ends with 1 when one of them crashed, hung, leaked, or took too much memory.
#
#   scripts/fuzz.sh [SECONDS [TARGET...]]   each target for so long (default 60), or some of them
#   scripts/fuzz.sh --smoke                 the same two thousand inputs each time, for CI
#   scripts/fuzz.sh --list                  the names of the targets
#
# Starts from tests/fuzz/corpus and keeps what it finds: inputs that reach new code in
# build/fuzz/corpus/TARGET, from where the next run goes on, and inputs that fail in
# build/fuzz/findings. A finding is run again with build/asan-ubsan/fuzz/fuzz_TARGET FILE.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/asan-ubsan
scratch=build/fuzz

mapfile -t all < <(sed -n 's/^ *millrace_add_fuzz(\([a-z_]*\).*/\1/p' tests/fuzz/CMakeLists.txt)
if [[ ${1:-} == --list ]]; then
  printf '%s\n' "${all[@]}"
  exit 0
fi
seconds=${1:-60}
runs=-1
# The smoke run repeats the same inputs, so that a chance finding does not stop an unrelated change.
# Long runs search for new findings.
if [[ $seconds == --smoke ]]; then
  seconds=60
  runs=2000
  scratch=$build/fuzz/smoke
  rm -rf "$scratch"
fi
if [[ ! $seconds =~ ^[0-9]+$ ]]; then
  echo 'usage: scripts/fuzz.sh [SECONDS [TARGET...]] | --smoke | --list' >&2
  exit 2
fi
targets=("${@:2}")
[[ ${#targets[@]} -gt 0 ]] || targets=("${all[@]}")

[[ -f $build/build.ninja ]] || cmake --preset asan-ubsan >/dev/null
cmake --build $build --target "${targets[@]/#/fuzz_}" >/dev/null
mkdir -p $scratch/findings $scratch/log

export ASAN_OPTIONS=detect_leaks=1:intercept_tls_get_addr=0:allocator_may_return_null=1:max_allocation_size_mb=2048
export UBSAN_OPTIONS=print_stacktrace=1

# run TARGET: from the seeds and what earlier runs found; one line about it, and why it failed.
# Without -entropic=0 the engine spends most of its time on statistics.
run() {
  local target=$1 log=$scratch/log/$1.txt options=() result=clean
  local folders=("$scratch/corpus/$1") seeds
  mkdir -p "${folders[0]}"
  for seeds in "tests/fuzz/corpus/$target" "$build/fuzz/seeds/$target"; do
    [[ -d $seeds ]] && folders+=("$seeds")
  done
  # The header of an uncompressed picture says how much memory libjpeg-turbo asks for; it may be refused.
  [[ $target == picture ]] && options+=(-malloc_limit_mb=1000000)
  [[ -f tests/fuzz/$target.dict ]] && options+=(-dict="tests/fuzz/$target.dict")
  $build/fuzz/fuzz_"$target" -seed=1 -runs="$runs" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
    -use_value_profile=1 -entropic=0 -print_final_stats=1 \
    -artifact_prefix="$scratch/findings/$target-" \
    "${options[@]}" "${folders[@]}" >"$log" 2>&1 || result="FAILED, see $log"
  awk -v target="$target" -v result="$result" '
    / cov: / { for (i = 1; i < NF; ++i) if ($i == "cov:") coverage = $(i + 1) }
    /number_of_executed_units/ { runs = $2 }
    /peak_rss_mb/ { memory = $2 }
    END { printf "%-12s %10d runs %6d edges %5d MB  %s\n", target, runs, coverage, memory, result }
  ' "$log"
  [[ $result == clean ]] && return
  tail -n 60 "$log" >&2
  return 1
}

# As many at a time as there are cores; xargs fails when one of them did.
export -f run
export build scratch seconds runs
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -c 'run {}'
