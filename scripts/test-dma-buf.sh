#!/usr/bin/env bash
# Runs the tests of dma-bufs (tests/vart/dma_buf_test.cpp) in a virtual machine whose kernel has the
# exporters that this machine may lack: vgem, /dev/udmabuf and /dev/dma_heap. It is emulated in
# software, so no privilege and no device is needed; it boots in seconds.
#
# The kernel is that of Debian's backports, unpacked below build/ and not installed: that of
# Debian 12 itself has vgem only. Fails when a test fails or is skipped; ends with 77 when the emulator
# or the kernel cannot be had here.
#
# usage: scripts/test-dma-buf.sh [BUILD_FOLDER]     default: build/release; the test must be built
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/debian_source.sh
readonly build=${1:-build/release} work=build/qemu patience=180s
readonly here=$PWD/$work
readonly test=$build/tests/vart_dma_buf_test kernel=$work/kernel root=$work/root

fail() { echo "test-dma-buf: $*" >&2; exit 1; }
skip() { echo "test-dma-buf: skipped: $*" >&2; exit 77; }

# apt with lists and settings of its own, so that the machine's are left alone.
apt_backports() { # COMMAND...
  "$1" -q -o Dir::Etc::SourceList="$here/sources.list" -o Dir::Etc::SourceParts=- \
    -o Dir::State::Lists="$here/lists" -o Dir::Cache="$here/cache" \
    -o APT::Sandbox::User=root "${@:2}"
}

fetch_kernel() {
  [[ -e $kernel/complete ]] && return
  rm -rf "$kernel"
  mkdir -p "$kernel" "$work"/lists/partial "$work"/cache/archives/partial
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg mirror package
  mirror=$(debian_source)
  echo "deb [signed-by=$keys] $mirror bookworm-backports main" >"$work/sources.list"
  apt_backports apt-get update >"$work/apt.log" 2>&1 || skip "no kernel; see $work/apt.log"
  # The first of them; apt-cache may write on, so awk reads it all.
  package=$(apt_backports apt-cache depends linux-image-amd64 |
    awk '$1 == "Depends:" && !name { name = $2 } END { print name }')
  (cd "$kernel" && apt_backports apt-get download "$package") >>"$work/apt.log" 2>&1 ||
    skip "no kernel; see $work/apt.log"
  dpkg-deb --fsys-tarfile "$kernel"/*.deb | tar -x -C "$kernel" ./boot ./lib/modules
  rm "$kernel"/*.deb
  touch "$kernel/complete"
}

# The module behind those that it needs, which are in the module itself, as text.
modules=0
add_module() { # NAME
  local path file=$root/modules/$1.ko needed
  [[ -z $(find "$root/modules" -name "*-$1.ko") ]] || return 0
  path=$(find "$kernel/lib/modules" -name "$1.ko*")
  [[ -n $path ]] || fail "the kernel has no module $1"
  case $path in
    *.xz) busybox unxz -c "$path" >"$file" ;;
    *) cp "$path" "$file" ;;
  esac
  for needed in $(grep -a -o 'depends=[a-z0-9_,]*' "$file" | tr '=,' '  ' | cut -d ' ' -f 2-); do
    add_module "$needed"
  done
  modules=$((modules + 1))
  mv "$file" "$root/modules/$(printf %02d $modules)-$1.ko"
}

# Busybox, the modules, the test and the libraries that it needs, at the paths that they have here.
make_root() {
  rm -rf "$root"
  mkdir -p "$root"/{bin,modules,dev,proc,sys,tmp}
  cp /bin/busybox "$root/bin"
  add_module vgem
  local plugin
  for plugin in "$build"/lib/libmillrace-*.so; do add_with_libraries "$plugin"; done
  add_with_libraries "$test"
  cat >"$root/init" <<END
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t devtmpfs none /dev
mount -t proc none /proc
mount -t sysfs none /sys
mount -t tmpfs none /tmp
for module in /modules/*; do insmod \$module; done
mkdir /dev/shm
mount -t tmpfs none /dev/shm
cd $PWD && MILLRACE_LOG=warning $PWD/$test --gtest_color=no
echo "test-dma-buf: exit status \$?"
poweroff -f
END
  chmod +x "$root/init"
}

add_with_libraries() { # PROGRAM_OR_LIBRARY
  local file
  for file in "$PWD/$1" $(ldd "$1" | grep -o '/[^ ]*'); do
    mkdir -p "$root/$(dirname "$file")"
    cp -uL "$file" "$root/$file"
  done
}

[[ -x $test ]] || fail "there is no $test; build it first"
scripts/setup.sh --dma-buf || skip 'no emulator'
fetch_kernel
make_root
(cd "$root" && find . | busybox cpio -o -H newc) >"$work/initrd" 2>"$work/cpio.log"

log=$work/serial.log
timeout "$patience" qemu-system-x86_64 -accel tcg -cpu max -smp 2 -m 1G -nographic -no-reboot \
  -nic none -kernel "$kernel"/boot/vmlinuz-* -initrd "$work/initrd" \
  -append 'console=ttyS0 quiet panic=-1' </dev/null >"$log" 2>&1 ||
  { tail -n 40 "$log" >&2; fail "the virtual machine did not end within $patience"; }
grep -E '^\[ +(OK|FAILED|SKIPPED|PASSED) ' "$log" || true
if ! grep -q 'test-dma-buf: exit status 0' "$log" || grep -q SKIPPED "$log"; then
  tail -n 60 "$log" >&2
  fail "failed; all of it is in $log"
fi
