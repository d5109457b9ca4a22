#!/usr/bin/env bash
# Runs correct programs with the hazard checker, so any finding is a false report: the samples and the right programs
# of docs/hazards.md, on the null device and now and then on the CPU device, half of them with strict sync. Prints the
# findings, and at the end how many runs and false reports there were; fails if there was one, or if a program failed.
# nrt_error_tracker is left out, which is said to be reported. With --tests it runs our own test programs instead
# (check_own_tests.py).
# usage: scripts/check-correct-samples.sh [--runs N] [--build FOLDER] [--resume FILE] [--tests]
#   --runs N        how many programs are run, one at a time (500)
#   --build FOLDER  with the programs (build/release); they are copied, so it may be built meanwhile
#   --resume FILE   keeps the counts there after each run, and goes on from those that it holds
#   --tests         runs each of our test programs once
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=500
build=build/release
state=
tests=0
while (($# > 0)); do
  case $1 in
    --runs) wanted=$2; shift 2 ;;
    --build) build=$2; shift 2 ;;
    --resume) state=$(realpath "$2"); shift 2 ;;
    --tests) tests=1; shift ;;
    *) sed -n '/^# usage/,/^[^#]/s/^# //p' "$0" >&2; exit 2 ;;
  esac
done

if ((tests)); then exec scripts/check_own_tests.py "$build"; fi
readonly MOST_SHOWN=20  # findings and failures that are printed
glyphs=$PWD/models/glyphs
build=$(realpath "$build")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin=$work/bin
export MILLRACE_CHECK_CALLBACK_MS=60000  # how long a callback takes depends on the machine
runs=0
reports=0
failures=0

show() {
  ((reports + failures > MOST_SHOWN)) || printf 'check-correct-samples: %s\n' "$@" >&2
}

keep_counts() {
  if [[ -n $state ]]; then echo "$runs $reports $failures" >"$state"; fi
}

# Runs a program with the checker, and counts what comes of it. The exit code of glyphs does not count, which computes
# nothing on the null device and so reads the pictures wrongly.
run() {
  local name found
  name=$(basename "$1")
  : >"$work/findings.json"
  if ! MILLRACE_CHECK=$work/findings.json "$@" >"$work/output" 2>&1 </dev/null && [[ $name != glyphs ]]; then
    failures=$((failures + 1))
    show "failed: $*" "$(tail -5 "$work/output")"
  fi
  runs=$((runs + 1))
  found=$(grep -c '"hazard":' "$work/findings.json" || true)
  if ((found > 0)); then
    reports=$((reports + found))
    show "$found found in $* (device ${MILLRACE_DEVICE-}, strict sync ${MILLRACE_STRICT_SYNC-})" \
      "$(grep '"hazard":' "$work/findings.json" | head -3)"
  fi
  keep_counts
}

# Copies the programs, which must not change while they run, and makes what they read.
prepare_samples() {
  mkdir "$bin" "$work/lib" "$work/out"
  cp "$build"/bin/* "$bin"
  cp -P "$build"/lib/*.so* "$work/lib"
  export LD_LIBRARY_PATH=$work/lib
  cd "$work"
  "$bin/millrace" compile "$glyphs/glyphs.onnx" -o glyphs.rai >compile.log 2>&1
  cat >models.json <<'END'
[{"model_cache_path": "glyphs.rai", "start_column": 0, "ofm_dir": "out"},
 {"model_cache_path": "glyphs.rai", "start_column": 4, "ofm_dir": "out"}]
END
  cat >app.json <<'END'
{"inference-config": {"model-file": "glyphs.rai", "runner-options": {}},
 "ifms-config": [{"name": "image", "file": "image.bin"}], "ofms-dir": "out"}
END
  head -c 65536 /dev/zero >image.bin  # a whole number of pictures of 1,024 or of 4,096 bytes
}

# Prints the programs of one round with their arguments, a line each.
commands_of_round() {
  cat <<END
first_job glyphs.rai $glyphs/heldback_images.npy
glyphs glyphs.rai $glyphs
vart_infer_async glyphs.rai -d -n 20
vart_infer_async glyphs.rai --benchmark -d -n 20
vart_callback glyphs.rai image.bin
ml_vart --app-config app.json --frames 8
vart_multi_tenancy -c models.json -r 5 -d
vart_multimodel_seq -c models.json -r 5 -d
nrt_load_run -n 5 glyphs.rai
nrt_async_pipeline -n 20 glyphs.rai
nrt_all_reduce --ranks 2 -n 3
END
  local program
  for program in native vart nrt; do
    grep -aoE '[a-z_]+_right' "$bin/${program}_hazards" | grep -v '^_' | sort -u |
      sed "s/^/${program}_hazards glyphs.rai /"
  done
}

run_samples() {
  prepare_samples
  local commands command round
  mapfile -t commands < <(commands_of_round)
  while ((runs < wanted)); do
    round=$((runs / ${#commands[@]} + 1))
    MILLRACE_DEVICE=null
    ((round % 10 != 0)) || MILLRACE_DEVICE=cpu
    MILLRACE_STRICT_SYNC=$((round % 2))
    export MILLRACE_DEVICE MILLRACE_STRICT_SYNC
    read -ra command <<<"${commands[runs % ${#commands[@]}]}"
    run "$bin/${command[0]}" "${command[@]:1}"
    ((runs % 500 != 0)) || echo "$runs runs, $reports false reports, $failures failures"
  done
}

if [[ -n $state && -s $state ]]; then read -r runs reports failures <"$state"; fi
run_samples
echo "$runs runs under the checker: $reports false reports, $failures failures"
((reports == 0 && failures == 0))
