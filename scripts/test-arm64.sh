#!/usr/bin/env bash
# Compiles what is shipped for arm64, makes its packages, installs them into an arm64 root, and runs them
# there in QEMU's emulator of single programs: the shipped network through the tool, samples of each face,
# and the ONNX backend tests. No case has a NaN, and times in an emulator mean nothing.
#
# The root has what Debian's packages for arm64 hold, but nothing was run in it, so there is no shell. Needs
# root, for mounts. Ends with 77 when it cannot be had here.
#
# usage: scripts/test-arm64.sh [FILTER]     FILTER: which ONNX backend tests; all of them
set -euo pipefail
cd "$(dirname "$0")/.."
readonly build=build/arm64 work=build/arm64/work scale=0.0039215686
readonly root=$PWD/build/arm64-root installed=$PWD/build/arm64/work/installed
readonly filter=${1:-*} cases=/usr/share/libonnx-testdata/data
readonly models=/millrace/models/glyphs made=/millrace/$work

step() { printf '== %s (%d s)\n' "$*" "$SECONDS"; }

# Packages of programs need what dpkg remembers of the root. It remembers nothing of packages without
# libraries, as Boost's headers are, and so the headers are unpacked only. Maintainers' scripts run here,
# where they do nothing but `ldconfig`.
install_packages() {
  local run=() package
  for package in "$work"/packages/*.deb; do
    [[ $package == */libmillrace-dev_* ]] || run+=("$package")
  done
  rm -rf --one-file-system "$installed"
  cp -al "$root" "$installed"
  mkdir -p "$installed"/{millrace,proc}
  echo arm64 >"$installed/var/lib/dpkg/arch"
  into_root --unpack "$work"/packages/libmillrace-dev_*.deb
  into_root --install "${run[@]}"
}
into_root() { dpkg --root="$installed" --log="$PWD/$work/dpkg.log" --force-script-chrootless "$@"; }

# Runs an installed program, or one of the build, in the root; the sources are in /millrace.
emulated() {
  # shellcheck disable=SC2016  # variables of the shell inside
  unshare --mount bash -euc '
    root=$1; sources=$2; shift 2
    mount --rbind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/tmp"
    mount --bind "$sources" "$root/millrace"
    cp /usr/bin/qemu-aarch64-static "$root/tmp/emulator"
    exec chroot "$root" /tmp/emulator "$@"' bash "$installed" "$PWD" "$@"
}

[[ $(id -u) -eq 0 ]] || { echo 'test-arm64: skipped: not root' >&2; exit 77; }
scripts/setup.sh
scripts/make_arm64_root.sh
step 'building'
cmake --preset arm64 >"$build-configure.log" 2>&1 || { cat "$build-configure.log" >&2; exit 1; }
cmake --build --preset arm64 --target shipped demo_programs
mkdir -p "$work"

step 'the packages'
rm -rf "$work/packages"
(cd "$build" && cpack -B work/packages >cpack.log 2>&1) || { cat "$build/cpack.log" >&2; exit 1; }
install_packages >"$work/install.txt" 2>&1 || { cat "$work/install.txt" >&2; exit 1; }

step 'the tool'
emulated /usr/bin/millrace --version
emulated /usr/bin/millrace compile $models/glyphs.onnx -o "$made/glyphs.rai"
emulated /usr/bin/millrace compile $models/glyphs.onnx --precision int8 -o "$made/glyphs-int8.rai" \
  --calibrate $models/calibration_images.npy --scale "$scale"
emulated /usr/bin/millrace evaluate "$made/glyphs.rai" --against "$made/glyphs-int8.rai" --scale "$scale" \
  --data $models/heldback_images.npy --labels $models/heldback_labels.npy
emulated /millrace/$build/bin/glyphs "$made/glyphs.rai" $models --min-accuracy 0.97

step 'VART'
head -c 4096 /dev/zero >"$work/image.bin"
emulated /usr/bin/vart_infer_async "$made/glyphs.rai" --dry-run -n 20
emulated /usr/bin/vart_callback "$made/glyphs.rai" "$made/image.bin"
step 'NRT'
emulated /usr/bin/nrt_load_run "$made/glyphs.rai"
emulated /usr/bin/nrt_async_pipeline "$made/glyphs.rai"
emulated /usr/bin/nrt_all_reduce

step 'the ONNX backend tests'
emulated /usr/bin/millrace conformance --onnx-tests $cases --exclude /millrace/tests/onnx/excluded.txt \
  --filter "$filter" --jobs "$(nproc)" --time-limit 300s >"$work/conformance.txt" || {
  grep '^fail' "$work/conformance.txt" >&2
  exit 1
}
tail -n 1 "$work/conformance.txt"
step 'done'
