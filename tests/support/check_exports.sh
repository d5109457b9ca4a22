#!/usr/bin/env bash
# Checks that a shared library exports the names of one C++ namespace and nothing else, and that none of
# them is of an implementation's class, except those that programs derive from. A build without
# optimisation also exports type information.
# usage: check_exports.sh NM LIBRARY NAMESPACE
set -euo pipefail
nm=$1 library=$2 namespace=$3
exported=$("$nm" -DC --defined-only "$library" | sed -E 's/^[0-9a-f]+ [A-Za-z] //')

count=$(grep -cE "^$namespace::" <<<"$exported" || true)
others=$(grep -vE "^((typeinfo|typeinfo name|vtable) for )?$namespace::" <<<"$exported" || true)
derivable='(Memory|VideoFrame|PreProcess|PostProcess)ImplBase::'
implementation=$(grep -E '(ImplBase|_impl)::' <<<"$exported" | grep -vE "$derivable" || true)
if ((count <= 20)) || [[ -n $others$implementation ]]; then
  printf '%s exports %s names of %s::\n' "$library" "$count" "$namespace"
  printf 'not of the namespace:\n%s\nof an implementation:\n%s\n' "$others" "$implementation"
  exit 1
fi
