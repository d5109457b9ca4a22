#!/usr/bin/env bash
# Runs the benchmarks of a build, then Millrace beside ONNX Runtime on models: the tables that
# docs/performance.md holds. Fails when a ratio is below 1.0; where ONNX Runtime cannot be had
# (bench/peers/fetch.sh), a line says so, and `millrace bench` runs alone. A model that it cannot be
# compared on (exit status 77 of peer_compare) is no failure.
#
# MODELS names the folder of the models, ../shared/models/models where it is unset; those that are
# not there are left out, and models/glyphs is always compared. ROUNDS and BLOCK, in seconds, say how
# long: 5 and 0.5. Requests that arrive at random take 2 s of a round.
# usage: scripts/bench.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: scripts/bench.sh BUILD_FOLDER}
models=${MODELS:-../shared/models/models}

for program in "$build"/bench/*_bench; do
  printf '\n== %s\n' "${program##*/}"
  "$program"
done

printf '\n== Beside ONNX Runtime\n'
rc=0
peers=$(bench/peers/fetch.sh) || rc=$?
if ((rc == 77)); then
  exec "$build/bin/millrace" bench models/glyphs/glyphs.onnx
fi
((rc == 0)) || exit "$rc"

heading=
failed=0
# compare LABEL MODEL [OPTION...]: rows of a model, with two threads only where there are two cores.
compare() {
  local label=$1 model=$2 threads=1
  shift 2
  [[ -f $model ]] || return 0
  (($(nproc) < 2)) || threads=1,2
  MILLRACE_PEERS=$peers "$build/bench/peer_compare" --label "$label" --threads "$threads" $heading \
    --rounds "${ROUNDS:-5}" --seconds "${BLOCK:-0.5}" "$@" "$model" || (($? == 77)) || failed=1
  heading=--no-heading
}

# server NAME: the options for arrivals at random, none for models that are too slow for a 99th
# percentile within seconds.
server() {
  [[ $1 == resnet50* ]] || echo --server 50,70,87
}

compare FP32 models/glyphs/glyphs.onnx
for name in resnet50 mobilenetv2_fp32 squeezenet1.1_fp32; do
  compare FP32 "$models/$name.onnx" --throughput $(server "$name")
  compare 'BF16, ONNX Runtime in FP32' "$models/$name.onnx" --precision bf16
done
for name in resnet50_qdq mobilenetv2-12-qdq; do
  compare 'INT8, the same QDQ file' "$models/$name.onnx" --throughput $(server "$name")
done
for name in ultraface_rfb320 yunet_n_320_320 fastestdet mnist-8 cifar10_cnn; do
  compare FP32 "$models/$name.onnx"
done
compare FP32 "$models/reverse_transformer.onnx" \
  --input-shape input_ids=1,10 --input-shape attention_mask=1,10
compare FP32 "$models/byte_bidi_lstm.onnx" --input-shape input=1,20
exit "$failed"
