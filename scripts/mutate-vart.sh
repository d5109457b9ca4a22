#!/usr/bin/env bash
# Makes each mistake of tests/vart/entries.txt in a copy of the tree and expects the test of that
# mistake to fail; prints a table, and exits with an error when a test does not notice its mistake. The
# copy and its build stay in $TMPDIR, so that the next run builds little.
# usage: scripts/mutate-vart.sh [-j JOBS] [ENTRY...]      entries by number; without any, all
#        scripts/mutate-vart.sh --check [BUILD_FOLDER]    the table and the patches fit the tree, and
#                                                         in that build every filter names a test
set -euo pipefail
cd "$(dirname "$0")/.."
readonly root=$PWD copy=${TMPDIR:-/tmp}/millrace-mutate-$UID
readonly build=$copy/build/release
readonly patches=tests/vart/mutations entries=22 patience=120s
jobs=$(nproc)
problems=0

problem() { echo "mutate-vart: $*" >&2; problems=$((problems + 1)); }

# Lines "MISTAKE TARGET TEST" of the table; the last may contain spaces.
lines() { grep -v '^#' tests/vart/entries.txt; }

names_tests() { # PROGRAM FILTER
  "$1" --gtest_list_tests --gtest_filter="$2" | grep -q '^  '
}

check() { # [BUILD_FOLDER]
  command -v git >/dev/null && git rev-parse --git-dir &>/dev/null || { echo 'no git here'; exit 77; }
  local number mistake target test patch program
  for ((number = 1; number <= entries; number++)); do
    lines | grep -q "^$(printf %02d "$number")\b" || problem "entry $number is not in the table"
  done
  for patch in "$patches"/*.patch; do
    lines | grep -q "^$(basename "$patch" .patch) " || problem "$patch is not in the table"
  done
  while read -r mistake target test; do
    [[ $target == not-implemented ]] && continue
    git apply --check "$patches/$mistake.patch" || problem "$mistake does not apply"
    program=${1:-}/tests/$target
    [[ -x $program && $test != compiles ]] || continue
    names_tests "$program" "$test" || problem "$mistake: $target has no test $test"
  done < <(lines)
}

# Files that differ get a new time stamp, so that they are compiled again.
copy_tree() {
  local file
  while IFS= read -r -d '' file; do
    [[ -f $file ]] && ! cmp -s "$file" "$copy/$file" || continue
    mkdir -p "$(dirname "$copy/$file")"
    cp "$file" "$copy/$file"
  done < <(git ls-files -coz --exclude-standard)
}

build_target() { cmake --build "$build" -j "$jobs" --target "$1" >"$copy/build.log" 2>&1; }

# The result of the test for the copy as it is: green, red, or why there is no result.
verdict() { # TARGET TEST
  if ! build_target "$1"; then
    [[ $2 == compiles ]] && echo red || echo 'DOES NOT COMPILE'
  elif [[ $2 == compiles ]]; then
    echo green
  elif ! names_tests "$build/tests/$1" "$2"; then
    echo 'NO SUCH TEST'
  elif timeout "$patience" "$build/tests/$1" --gtest_filter="$2" >"$copy/test.log" 2>&1; then
    echo green
  else
    echo red
  fi
}

mutate() { # MISTAKE TARGET TEST
  local patch=$root/$patches/$1.patch before after='not tried'
  before=$(verdict "$2" "$3")
  if [[ $before != green ]]; then
    after="$before without the mistake"
  elif ! (cd "$copy" && git apply "$patch"); then
    after='DOES NOT APPLY'
  else
    after=$(verdict "$2" "$3")
    (cd "$copy" && git apply -R "$patch")
    [[ $after == green ]] && after=GREEN
  fi
  [[ $after == red ]] || problems=$((problems + 1))
  printf '%-30s %-20s %-40s %s\n' "$1" "$2" "$3" "$after"
}

selected() { # MISTAKE ENTRY...
  local mistake=$1 entry
  shift
  [[ $# -eq 0 ]] && return
  for entry in "$@"; do [[ $mistake == "$(printf %02d "$((10#$entry))")"* ]] && return; done
  return 1
}

if [[ ${1:-} == --check ]]; then
  check "${2:-}"
  exit $((problems != 0))
fi
if [[ ${1:-} == -j ]]; then
  jobs=$2
  shift 2
fi
mkdir -p "$copy"
copy_tree
cmake -G Ninja -S "$copy" -B "$build" -DCMAKE_BUILD_TYPE=Release -DMILLRACE_BUILD_BENCH=OFF >/dev/null
printf '%-30s %-20s %-40s %s\n' mistake 'built with it' test verdict
while read -r mistake target test; do
  selected "$mistake" "$@" || continue
  if [[ $target == not-implemented ]]; then
    printf '%-30s %s\n' "$mistake" "not implemented: $test"
  else
    mutate "$mistake" "$target" "$test" </dev/null
  fi
done < <(lines)
exit $((problems != 0))
