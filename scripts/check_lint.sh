#!/usr/bin/env bash
# Runs clang-tidy (see .clang-tidy) over sources of a configured build folder: those given, else all.
# usage: scripts/check_lint.sh BUILD_FOLDER [FILE...]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: scripts/check_lint.sh BUILD_FOLDER [FILE...]}
shift
if [[ ! -f $build/compile_commands.json ]]; then
  echo "lint: $build is not configured" >&2
  exit 1
fi
# clang-tidy cannot read the headers that g++ has precompiled, and does not need them. It does not
# know all options of g++ either.
mkdir -p "$build/lint"
sed -E 's/ -Winvalid-pch| -Wno-subobject-linkage| -fpch-preprocess| -include [^ ]*cmake_pch\.hxx//g' "$build/compile_commands.json" \
  >"$build/lint/compile_commands.json"
files=("$@")
[[ ${#files[@]} -gt 0 ]] || mapfile -t files < <(git ls-files 'src/*.cpp' 'samples/*.cpp')
# What clang-tidy finds goes to standard output; standard error only counts suppressed warnings.
if ! printf '%s\0' "${files[@]}" |
  xargs -0 -n 4 -P "$(nproc)" clang-tidy -p "$build/lint" --quiet 2>"$build/lint/log"; then
  grep -v 'warnings generated' "$build/lint/log" >&2 || true
  exit 1
fi
echo "lint: ${#files[@]} files clean"
