#!/usr/bin/env bash
# Compiles what is shipped for arm64 and runs it in QEMU's emulator of single programs: the shipped
# network through the tool, a sample of each face, and the ONNX backend tests. No case has a NaN, and
# times in an emulator mean nothing.
#
# Needs root for its first run, to make build/arm64-root. Ends with 77 when that cannot be had here.
#
# usage: scripts/test-arm64.sh [FILTER]     FILTER: which ONNX backend tests; all of them
set -euo pipefail
cd "$(dirname "$0")/.."
readonly build=build/arm64 work=build/arm64/work root=build/arm64-root scale=0.0039215686
readonly filter=${1:-*} cases=$root/usr/share/libonnx-testdata/data

step() { printf '== %s (%d s)\n' "$*" "$SECONDS"; }
emulated() { qemu-aarch64-static -L "$root" "$build/bin/$1" "${@:2}"; }

scripts/setup.sh
scripts/make_arm64_root.sh
step 'building'
cmake --preset arm64 >"$build-configure.log" 2>&1 || { cat "$build-configure.log" >&2; exit 1; }
cmake --build --preset arm64 --target shipped demo_programs
mkdir -p "$work"

step 'the tool'
emulated millrace --version
emulated millrace compile models/glyphs/glyphs.onnx -o "$work/glyphs.rai"
emulated millrace compile models/glyphs/glyphs.onnx --precision int8 -o "$work/glyphs-int8.rai" \
  --calibrate models/glyphs/calibration_images.npy --scale "$scale"
emulated millrace evaluate "$work/glyphs.rai" --against "$work/glyphs-int8.rai" --scale "$scale" \
  --data models/glyphs/heldback_images.npy --labels models/glyphs/heldback_labels.npy
emulated glyphs "$work/glyphs.rai" models/glyphs --min-accuracy 0.97

step 'VART'
emulated vart_infer_async "$work/glyphs.rai" --dry-run -n 20
step 'NRT'
emulated nrt_load_run "$work/glyphs.rai"

step 'the ONNX backend tests'
emulated millrace conformance --onnx-tests "$cases" --exclude tests/onnx/excluded.txt \
  --filter "$filter" --jobs "$(nproc)" --time-limit 300s >"$work/conformance.txt" || {
  grep '^fail' "$work/conformance.txt" >&2
  exit 1
}
tail -n 1 "$work/conformance.txt"
step 'done'
