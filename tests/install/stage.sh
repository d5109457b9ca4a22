#!/usr/bin/env bash
# Installs a build into a folder, moves the installation, and compiles a model with the program in it.
# usage: stage.sh CMAKE BUILD_FOLDER STAGE_FOLDER MODEL.onnx
set -euo pipefail
cmake=$1 build=$2 stage=$3 model=$4
rm -rf "$stage"
"$cmake" --install "$build" --prefix "$stage/first" >/dev/null
mv "$stage/first" "$stage/prefix"
"$cmake" --install "$build" --component neuron-prefix --prefix "$stage/second" >/dev/null
mv "$stage/second" "$stage/neuron"
env -u LD_LIBRARY_PATH "$stage/prefix/bin/millrace" compile "$model" -o "$stage/model.rai"
