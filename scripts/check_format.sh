#!/usr/bin/env bash
# Checks every C++ file of the project against .clang-format; names the files that differ.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z '*.h' '*.hpp' '*.cpp' | xargs -0 clang-format --dry-run --Werror
echo 'format: clean'
