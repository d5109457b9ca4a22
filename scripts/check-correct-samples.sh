#!/usr/bin/env bash
# Runs the samples, which are correct, and the right programs of docs/hazards.md with the hazard checker, ROUNDS
# times, on the null device and now and then on the CPU device, half of them with strict sync. Any finding is a false
# report: prints it and fails. nrt_error_tracker is left out, which is said to be reported.
# usage: scripts/check-correct-samples.sh [ROUNDS [BUILD_FOLDER]]
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-20}
build=${2:-build/release}
bin=$(realpath "$build")/bin
glyphs=$PWD/models/glyphs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
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
mkdir out
head -c 65536 /dev/zero >image.bin  # a whole number of pictures of 1,024 or of 4,096 bytes

export MILLRACE_CHECK_CALLBACK_MS=60000  # how long a callback takes depends on the machine
runs=0
failed=0

# Runs a program with the checker. Exit codes count, except that glyphs, which computes nothing on the null device,
# reads the pictures wrongly.
run() {
  local name
  name=$(basename "$1")
  if ! MILLRACE_CHECK=$work/findings.json "$@" >"$work/output" 2>&1 && [[ $name != glyphs ]]; then
    echo "check-correct-samples: failed: $*" >&2
    tail -5 "$work/output" >&2
    failed=1
  fi
  runs=$((runs + 1))
  if grep -q '"hazard":' findings.json; then
    echo "check-correct-samples: found in $* (device $MILLRACE_DEVICE, strict sync $MILLRACE_STRICT_SYNC):" >&2
    grep '"hazard":' findings.json >&2
    failed=1
  fi
  : >findings.json
}

round() {
  run "$bin/first_job" glyphs.rai "$glyphs/heldback_images.npy"
  run "$bin/glyphs" glyphs.rai "$glyphs"
  run "$bin/vart_infer_async" glyphs.rai -d -n 20
  run "$bin/vart_infer_async" glyphs.rai --benchmark -d -n 20
  run "$bin/vart_callback" glyphs.rai image.bin
  run "$bin/ml_vart" --app-config app.json --frames 8
  run "$bin/vart_multi_tenancy" -c models.json -r 5 -d
  run "$bin/vart_multimodel_seq" -c models.json -r 5 -d
  run "$bin/nrt_load_run" -n 5 glyphs.rai
  run "$bin/nrt_async_pipeline" -n 20 glyphs.rai
  run "$bin/nrt_all_reduce" --ranks 2 -n 3
  local program hazard
  for program in native vart nrt; do
    for hazard in $(hazards_of "$program"); do
      run "$bin/${program}_hazards" glyphs.rai "$hazard"
    done
  done
}

# Prints the names of the right programs. Only strict sync can show that a sync is not missing.
hazards_of() {
  local names
  names=$(grep -aoE '[a-z_]+_right' "$bin/${1}_hazards" | grep -v '^_' | sort -u)
  echo "$names"
}

for ((i = 1; i <= rounds; ++i)); do
  MILLRACE_DEVICE=null
  ((i % 10 != 0)) || MILLRACE_DEVICE=cpu
  MILLRACE_STRICT_SYNC=$((i % 2))
  export MILLRACE_DEVICE MILLRACE_STRICT_SYNC
  round
  ((failed == 0)) || break
done
echo "$runs runs under the checker"
exit $failed
