#!/usr/bin/env bash
# Builds the project on Debian 13 and runs the tests of the CPU device there: with oneDNN 3.x, g++ 14
# and newer versions of the other libraries. Debian 13 is a root file system that debootstrap makes
# in build/debian13 from the machine's own source of packages; it is kept, with the build and the
# compiler cache in it, so that the next run is short.
#
# Needs root, for chroot and mounts. Ends with 77 when it cannot be had here.
#
# usage: scripts/test-debian13.sh [--all]     --all: the tests of the whole project
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/debian_source.sh
readonly root=$PWD/build/debian13/root log=$PWD/build/debian13/log.txt

fail() { echo "test-debian13: $*" >&2; exit 1; }
skip() { echo "test-debian13: skipped: $*" >&2; exit 77; }

targets=(shipped tests/device_cpu/all) tests=/build/tests/device_cpu
case ${1:-} in
  --all) targets=(shipped test_programs) tests=/build ;;
  ?*) echo "usage: scripts/test-debian13.sh [--all]" >&2; exit 2 ;;
esac

make_root() {
  [[ -e $root/complete ]] && return
  local mirror
  mirror=$(debian_source)
  mkdir -p "${log%/*}"
  rm -rf --one-file-system "$root" && mkdir -p "$root"
  # This uses a mount namespace of its own, so that nothing stays mounted when it is killed.
  unshare --mount debootstrap --variant=minbase trixie "$root" "$mirror" >"$log" 2>&1 ||
    skip "the machine's source of packages has no Debian 13; see $log"
  touch "$root/complete"
}

# Runs a command there, with the sources as they are here, and the models beside them where they are.
inside() { # COMMAND
  mkdir -p "$root/millrace"
  # shellcheck disable=SC2016  # for the shell inside
  unshare --mount bash -euc '
    mount --rbind /dev "$1/dev"
    mount -t proc proc "$1/proc"
    mount --bind "$2" "$1/millrace"
    mount -o remount,bind,ro "$1/millrace"
    if [[ -d $2/../shared ]]; then
      mkdir -p "$1/shared"
      mount --bind "$2/../shared" "$1/shared"
      mount -o remount,bind,ro "$1/shared"
    fi
    exec chroot "$1" bash -euc "cd /millrace; $3"' bash "$root" "$PWD" "$1"
}

[[ $(id -u) -eq 0 ]] || skip 'not root'
scripts/setup.sh --debian13 || skip 'no debootstrap'
use_proxy
make_root
inside true 2>>"$log" || skip "no mounts; see $log"
inside 'scripts/setup.sh'
inside 'cmake --preset release -B /build' >"$log" 2>&1 || { cat "$log" >&2; fail 'not configured'; }
inside "cmake --build /build --target ${targets[*]}"
inside "ctest --test-dir $tests --output-on-failure --no-tests=error --parallel $(nproc)"
