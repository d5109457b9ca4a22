#!/usr/bin/env bash
# Compares the libraries with those of the last tag, or of another commit: prints what changed for programs that
# were linked against them. It builds both with debug information, in build/abi. Ends with 1 when a
# library is not compatible, with 77 when there is no tag.
#
# usage: scripts/check_abi.sh [COMMIT]
set -euo pipefail
cd "$(dirname "$0")/.."
readonly folder=$PWD/build/abi

skip() { echo "check_abi: skipped: $*" >&2; exit 77; }

before=${1:-$(git describe --tags --abbrev=0 2>/dev/null)} || skip 'there is no tag to compare with'
scripts/setup.sh --abi

build() { # SOURCES BUILD
  mkdir -p "$2"
  cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG='-g -O0' \
    -DCMAKE_C_FLAGS_DEBUG='-g -O0' -DMILLRACE_BUILD_TESTS=OFF -DMILLRACE_BUILD_BENCH=OFF >"$2/log.txt"
  cmake --build "$2" --target millrace vart-ml vart-x xrt_coreutil nrt
}

# Without this, git still knows the folder after `make clean`.
git worktree prune
[[ -e $folder/sources ]] || git worktree add --quiet --detach "$folder/sources" "$before"
git -C "$folder/sources" checkout --quiet --detach "$before"
build "$folder/sources" "$folder/before"
build . "$folder/after"

rc=0
for name in libmillrace.so.0 libvart-ml.so.0 libvart-x.so.0 libxrt_coreutil.so.0 libnrt.so.1; do
  echo "== $name"
  # The core serves the other libraries, too; what they use of it is not in its public headers.
  folders=(--headers-dir1 "$folder/sources/include" --headers-dir2 include --drop-private-types)
  # The status has 8 in it where a change is not compatible, 1 or 2 where abidiff failed, and 4 where
  # anything changed.
  status=0
  abidiff --no-added-syms "${folders[@]}" "$folder/before/lib/$name" "$folder/after/lib/$name" || status=$?
  (((status & 11) == 0)) || rc=1
done
exit "$rc"
