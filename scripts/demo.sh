#!/usr/bin/env bash
# Compiles the shipped network, reads its held-back pictures asynchronously, measures what BF16 and
# INT8 cost, then runs the asynchronous VART sample. usage: scripts/demo.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: scripts/demo.sh BUILD_FOLDER}
work=$build/demo
mkdir -p "$work"

say() { printf '$ %s\n' "$*"; "$@"; }

say "$build/bin/millrace" compile models/glyphs/glyphs.onnx -o "$work/glyphs.rai"
say "$build/bin/glyphs" "$work/glyphs.rai" models/glyphs --min-accuracy 0.97
say "$build/bin/millrace" compile models/glyphs/glyphs.onnx --precision bf16 -o "$work/glyphs-bf16.rai"
say "$build/bin/millrace" compile models/glyphs/glyphs.onnx --precision int8 \
  --calibrate models/glyphs/calibration_images.npy --scale 0.0039215686 -o "$work/glyphs-int8.rai"
say "$build/bin/millrace" evaluate "$work/glyphs.rai" \
  --against "$work/glyphs-bf16.rai" --against "$work/glyphs-int8.rai" \
  --data models/glyphs/heldback_images.npy --labels models/glyphs/heldback_labels.npy --scale 0.0039215686
say "$build/bin/vart_infer_async" "$work/glyphs.rai" --dry-run -n 20
