#!/usr/bin/env bash
# Runs clang-tidy (see .clang-tidy) over sources of a configured build folder: those given, else all.
# With --grouped it reads the sources as they are compiled, all of a folder as one, which takes a
# fifth of the time and looks at the neighbours of the given sources, too. Left out are the check for
# included sources and that for exceptions, which follows calls into the neighbours and finds, for
# instance, that a mutex may throw.
# usage: scripts/check_lint.sh [--grouped] BUILD_FOLDER [FILE...]
set -euo pipefail
cd "$(dirname "$0")/.."
grouped=false
if [[ ${1:-} == --grouped ]]; then
  grouped=true
  shift
fi
build=${1:?usage: scripts/check_lint.sh [--grouped] BUILD_FOLDER [FILE...]}
shift
if [[ ! -f $build/compile_commands.json ]]; then
  echo "lint: $build is not configured" >&2
  exit 1
fi
# clang-tidy cannot read the headers that g++ has precompiled, and does not need them. It does not
# know all options of g++ either.
mkdir -p "$build/lint"
sed -E 's/ -Winvalid-pch| -Wno-subobject-linkage| -fpch-preprocess| -fvect-cost-model=dynamic| --param ggc-[a-z-]+=[0-9]+| -include [^ ]*cmake_pch\.hxx//g' "$build/compile_commands.json" \
  >"$build/lint/compile_commands.json"
files=("$@")
[[ ${#files[@]} -gt 0 ]] || mapfile -t files < <(git ls-files 'src/*.cpp' 'samples/*.cpp')
count=${#files[@]} options=()
if $grouped; then
  # A group is a source that includes its members by their paths.
  mapfile -t units < <(
    printf '%s\n' "${files[@]/#/$PWD/}" >"$build/lint/files"
    find "$build/src" "$build/samples" -path '*/Unity/*' -name '*.cxx' -print0 |
      xargs -0 grep -l -F -f "$build/lint/files"
    find "$build/src" "$build/samples" -path '*/Unity/*' -name '*.cxx' -print0 |
      xargs -0 sed -n 's/^#include "\(.*\)"$/\1/p' | sort -u >"$build/lint/grouped"
    sort -u "$build/lint/files" | comm -23 - "$build/lint/grouped")
  files=("${units[@]}")
  options=(--checks=-bugprone-suspicious-include,-bugprone-exception-escape)
fi
# What clang-tidy finds goes to standard output; standard error only counts suppressed warnings.
if ! printf '%s\0' "${files[@]}" |
  xargs -0 -n "$($grouped && echo 1 || echo 4)" -P "$(nproc)" \
    clang-tidy -p "$build/lint" --quiet "${options[@]}" 2>"$build/lint/log"; then
  grep -v 'warnings generated' "$build/lint/log" >&2 || true
  exit 1
fi
echo "lint: $count files clean"
