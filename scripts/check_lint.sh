#!/usr/bin/env bash
# Runs clang-tidy (see .clang-tidy) over the sources of a configured build folder.
# usage: scripts/check_lint.sh BUILD_FOLDER [FILE...]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: scripts/check_lint.sh BUILD_FOLDER [FILE...]}
shift
if [[ $# -gt 0 ]]; then
  files=("$@")
else
  mapfile -t files < <(git ls-files 'src/*.cpp' 'samples/*.cpp')
fi
# clang-tidy reports to standard output; what it counts on standard error is noise.
printf '%s\0' "${files[@]}" |
  xargs -0 -n 4 -P "$(nproc)" clang-tidy -p "$build" --quiet 2>/dev/null
echo 'lint: clean'
