#!/usr/bin/env bash
# Builds a small project with a precompiled header through ccache, changes a comment in the header,
# and builds the project again from nothing: the second build must work and see the new sources.
# usage: compile_twice.sh CMAKE COMPILER MODULE_FOLDER WORK_FOLDER
set -euo pipefail
cmake=$1 compiler=$2 modules=$3 work=$4
command -v ccache >/dev/null || { echo 'skipped: ccache is not installed'; exit 77; }
export CCACHE_DIR=$work/cache
unset CMAKE_CXX_COMPILER_LAUNCHER
rm -rf "$work"
mkdir -p "$work/source"
cat >"$work/source/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(cached LANGUAGES CXX)
include($modules/MillraceCompilerCache.cmake)
add_executable(cached main.cpp)
target_precompile_headers(cached PRIVATE \${PROJECT_SOURCE_DIR}/answer.h)
END

# build COMMENT ADDED: prints what the program returns.
build() {
  printf '#pragma once\n// %s\ninline constexpr int kAnswer = 40;\n' "$1" >"$work/source/answer.h"
  printf '#include "answer.h"\nint main() { return kAnswer + %s; }\n' "$2" >"$work/source/main.cpp"
  rm -rf "$work/build"
  "$cmake" -G Ninja -S "$work/source" -B "$work/build" -DCMAKE_CXX_COMPILER="$compiler" >"$work/log"
  "$cmake" --build "$work/build" >>"$work/log" || { cat "$work/log" >&2; return 1; }
  local status=0
  "$work/build/cached" || status=$?
  echo "$status"
}

first=$(build 'A comment.' 1)
second=$(build 'A longer comment.' 2)
[[ $first == 41 && $second == 42 ]] || { echo "returned $first and $second, not 41 and 42" >&2; exit 1; }
