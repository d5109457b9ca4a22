#!/usr/bin/env bash
# Makes build/arm64-root: the libraries and headers of Debian 12 for arm64 that compiling for it needs, from
# the machine's own source of packages. Nothing in it was run, so no arm64 processor is needed. It
# is kept, and remade when the list below has changed. cmake/toolchains/arm64.cmake compiles against it.
#
# Needs root, for mounts. Ends with 77 when it cannot be had here.
#
# usage: scripts/make_arm64_root.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/debian_source.sh
readonly root=$PWD/build/arm64-root log=$PWD/build/arm64-root.log

skip() { echo "make_arm64_root: skipped: $*" >&2; exit 77; }

# The C and C++ libraries, and those that scripts/setup.sh installs of this machine's own kind.
list=$(scripts/setup.sh --list | grep -E -- '-dev$|^libonnx-testdata$' |
  grep -vE 'dpkg|clang|python|pybind|gloo|uring|benchmark' | paste -sd , -),libc6-dev,libstdc++-12-dev
readonly list

# Links to absolute paths would lead to libraries of this machine.
make_links_relative() {
  local link target
  find "$root/lib" "$root/usr/lib" -lname '/*' -printf '%p\t%l\n' |
    while IFS=$'\t' read -r link target; do ln -sfrn "$root$target" "$link"; done
}

# Does what the packages' own scripts would do: each library of these has several implementations.
choose_implementations() {
  local libraries=$root/usr/lib/aarch64-linux-gnu name
  for name in blas lapack; do
    ln -sf "$name/lib$name.so.3" "$libraries/lib$name.so.3"
  done
}

# Writes what dpkg would remember of the packages with libraries, for dpkg-shlibdeps to find which a program
# needs.
remember_packages() {
  local database=$root/var/lib/dpkg deb name file control
  rm -rf "$database" && mkdir -p "$database/info" "$database/updates"
  echo 1 >"$database/info/format"  # names of files have the architecture
  control=$(mktemp -d)
  for deb in "$root"/var/cache/apt/archives/*.deb; do
    dpkg-deb --control "$deb" "$control/control"
    if [[ -e $control/control/shlibs ]]; then
      name=$(dpkg-deb -f "$deb" Package)
      ! grep -q '^Multi-Arch: same' "$control/control/control" || name+=:arm64
      for file in symbols shlibs; do
        [[ ! -e $control/control/$file ]] || cp "$control/control/$file" "$database/info/$name.$file"
      done
      dpkg-deb --fsys-tarfile "$deb" | tar -t | sed 's,^\.,,; s,/$,,; /^$/d' >"$database/info/$name.list"
      { cat "$control/control/control"; printf 'Status: install ok installed\n\n'; } >>"$database/status"
    fi
    rm -r "$control/control"
    rm "$deb"
  done
  rm -r "$control"
}

# The tools of a newer Debian write sources that do not compile against these libraries.
[[ $(. /etc/os-release && echo "${VERSION_CODENAME-}") == bookworm ]] || skip 'not on Debian 12'
scripts/setup.sh --arm64 || skip 'no compiler for arm64, or no mmdebstrap'
[[ -e $root/complete && $(cat "$root/complete") == "$list" ]] && exit 0
[[ $(id -u) -eq 0 ]] || skip 'not root'
use_proxy
mirror=$(debian_source)
mkdir -p build
rm -rf --one-file-system "$root"
# This uses a mount namespace of its own, so that nothing stays mounted when it is killed.
unshare --mount mmdebstrap --variant=extract --architectures=arm64 --include="$list" \
  --skip=cleanup/apt --aptopt='Acquire::Languages "none"' bookworm "$root" "$mirror" >"$log" 2>&1 ||
  skip "the machine's source of packages has no Debian 12 for arm64; see $log"
make_links_relative
choose_implementations
remember_packages
echo "$list" >"$root/complete"
