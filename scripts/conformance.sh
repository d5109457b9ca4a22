#!/usr/bin/env bash
# Runs the ONNX backend tests and writes what became of them: docs/operators.md, and the cases that
# pass, which from then on must pass (tests/onnx). Stops when a case fails.
#
#   scripts/conformance.sh [BUILD]     the build that has the tool; build/release
#
# MILLRACE_ONNX_TESTS names another folder of cases than that of Debian's libonnx-testdata.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
cases=${MILLRACE_ONNX_TESTS:-/usr/share/libonnx-testdata/data}

results=$(mktemp)
table=$(mktemp)
trap 'rm -f "$results" "$table"' EXIT
"$build/bin/millrace" conformance --onnx-tests "$cases" --exclude tests/onnx/excluded.txt \
  --table "$table" >"$results" || { grep '^fail' "$results" >&2; exit 1; }
cat "$table" >docs/operators.md
{
  echo '# The cases that must pass. Made by scripts/conformance.sh.'
  awk '$1 == "pass" { print $2 }' "$results"
} >tests/onnx/passing.txt
tail -n 1 "$results"
