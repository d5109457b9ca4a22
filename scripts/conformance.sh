#!/usr/bin/env bash
# Runs the ONNX backend tests and writes what became of them: docs/operators.md, and the cases that
# pass, which from then on must pass (tests/onnx). The page also has the operators of the cases of our
# own, tests/onnx/cases. Stops when a case fails.
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
own=$(mktemp)
trap 'rm -f "$results" "$table" "$own"' EXIT
"$build/bin/millrace" conformance --onnx-tests tests/onnx/cases --table "$own" >"$results" ||
  { grep '^fail' "$results" >&2; exit 1; }
"$build/bin/millrace" conformance --onnx-tests "$cases" --exclude tests/onnx/excluded.txt \
  --table "$table" >"$results" || { grep '^fail' "$results" >&2; exit 1; }
{
  cat "$table"
  echo
  echo '## Operators of later opsets and of com.microsoft'
  echo
  echo 'These tests do not have them. A case of our own (`tests/onnx/cases`) has many nodes of an operator, and is right'
  echo 'where ONNX Runtime gives the same. [opsets.md](opsets.md) says what there is of opsets 23 to 27.'
  echo
  sed -n '/^| operator/,/^$/p' "$own" | sed '/^$/d'
} >docs/operators.md
{
  echo '# The cases that must pass. Made by scripts/conformance.sh.'
  awk '$1 == "pass" { print $2 }' "$results"
} >tests/onnx/passing.txt
tail -n 1 "$results"
