#!/usr/bin/env bash
# Installs the packages of Debian 12 or 13 that building, testing and running Millrace needs.
# Safe to run again: prints nothing and does nothing when all of them are installed.
#
#   scripts/setup.sh             everything for build, tests and demo
#   scripts/setup.sh --dma-buf   what scripts/test-dma-buf.sh needs besides: an emulator
#   scripts/setup.sh --debian13  what scripts/test-debian13.sh needs besides
#   scripts/setup.sh --packages  what scripts/test-packages.sh needs besides
#   scripts/setup.sh --abi       what scripts/check_abi.sh needs besides
#   scripts/setup.sh --arm64     what compiling for arm64 and scripts/test-arm64.sh need besides
#   scripts/setup.sh --docs      what `make docs` needs besides
#   scripts/setup.sh --list      print the package names and do nothing
set -euo pipefail

packages=(
  # Tool chain.
  g++ clang libclang-rt-dev lld ccache cmake ninja-build make pkg-config git python3
  clang-format clang-tidy
  # The Debian package.
  dpkg-dev file
  # Libraries of the runtime.
  libdnnl-dev libflatbuffers-dev flatbuffers-compiler libhwy-dev libxxhash-dev libfmt-dev
  libsodium-dev
  # Libraries of the compiler and of the programs.
  libonnx-dev libprotobuf-dev libcli11-dev nlohmann-json3-dev
  libturbojpeg0-dev libspng-dev libwebp-dev libexif-dev zlib1g-dev
  libopencv-imgcodecs-dev libopencv-imgproc-dev libboost-program-options-dev
  libboost-dev libseccomp-dev prometheus-cpp-dev libssl-dev libgrpc++-dev protobuf-compiler-grpc
  # The Python package, its tests, and the check of its types.
  pybind11-dev python3-dev python3-numpy python3-pytest mypy
  # Tests and benchmarks.
  libgtest-dev libgmock-dev libbenchmark-dev libgloo-dev spin liburing-dev libonnx-testdata
  python3-yaml python3-jsonschema
)

if [[ ${1:-} == --dma-buf ]]; then
  packages=(qemu-system-x86 busybox-static debian-archive-keyring)
  shift
elif [[ ${1:-} == --debian13 ]]; then
  packages=(debootstrap debian-archive-keyring)
  shift
elif [[ ${1:-} == --packages ]]; then
  packages=(mmdebstrap debian-archive-keyring lintian)
  shift
elif [[ ${1:-} == --abi ]]; then
  packages=(abigail-tools)
  shift
elif [[ ${1:-} == --arm64 ]]; then
  packages=(g++-aarch64-linux-gnu qemu-user-static mmdebstrap debian-archive-keyring)
  shift
elif [[ ${1:-} == --docs ]]; then
  packages=(mkdocs mkdocs-material doxygen)
  shift
fi
if [[ ${1:-} == --list ]]; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi
if [[ $# -gt 0 ]]; then
  echo "usage: scripts/setup.sh [--dma-buf | --debian13 | --packages | --abi | --arm64 | --docs] [--list]" >&2
  exit 2
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
    missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || {
    echo "setup: ${#missing[@]} packages are missing and neither root nor sudo is available." >&2
    echo "setup: as root, run: apt-get install ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
run_quietly() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    echo "setup: failed: $*" >&2
    exit 1
  }
}

echo "setup: installing ${#missing[@]} Debian packages: ${missing[*]}"
# Another program may be installing something, as new machines do by themselves.
run_quietly apt-get -o DPkg::Lock::Timeout=600 update
run_quietly apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "${missing[@]}"
echo "setup: done"
