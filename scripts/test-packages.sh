#!/usr/bin/env bash
# Installs the packages in build/ with apt in a clean Debian 12, uses them there as their users would, and
# purges them: nothing may be left. The tarball in build/ is used there, too.
#
# Debian 12 is a root file system that mmdebstrap makes in build/test-packages from the machine's own
# source of packages. It is kept while it is clean, and so are the packages that apt downloads into it.
# Needs root, for chroot and mounts. Ends with 77 when it cannot be had here.
#
# usage: scripts/test-packages.sh     after `make package tarball`
# shellcheck disable=SC2016  # variables of the shells inside
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/debian_source.sh
readonly folder=$PWD/build/test-packages
readonly root=$folder/root cache=$folder/cache log=$folder/log.txt

fail() { echo "test-packages: $*" >&2; exit 1; }
skip() { echo "test-packages: skipped: $*" >&2; exit 77; }
step() { printf '== %s (%d s)\n' "$*" "$SECONDS"; }

make_root() {
  [[ -e $root/clean ]] && return
  local mirror
  mirror=$(debian_source)
  rm -rf --one-file-system "$root"
  mkdir -p "$cache/partial"
  # It has the base system and apt, as a container has. Nothing in it has to survive a power failure.
  unshare --mount mmdebstrap --variant=minbase --dpkgopt=force-unsafe-io \
    --aptopt='Acquire::Languages "none"' bookworm "$root" "$mirror" >"$log" 2>&1 ||
    skip "the machine's source of packages has no Debian 12; see $log"
  touch "$root/clean"
}

# Runs a command there. The sources are in /millrace, what `make package` made in /packages.
inside() { # COMMAND
  mkdir -p "$root/millrace" "$root/packages"
  unshare --mount bash -euc '
    mount --rbind /dev "$1/dev"
    mount -t proc proc "$1/proc"
    mount -t tmpfs tmpfs "$1/tmp"
    for from in "$2:millrace" "$2/build:packages"; do
      mount --bind "${from%:*}" "$1/${from##*:}"
      mount -o remount,bind,ro "$1/${from##*:}"
    done
    mount --bind "$3" "$1/var/cache/apt/archives"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive \
      ${http_proxy:+http_proxy="$http_proxy"} chroot "$1" bash -euo pipefail -c "$4"' \
    bash "$root" "$PWD" "$cache" "$1"
}

# The files that there are, without what apt, dpkg and the loader remember.
files() {
  inside 'find / -xdev \( -path /millrace -o -path /packages -o -path /var/cache -o -path /var/log \
    -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /etc/ld.so.cache -o -path /clean \) -prune \
    -o ! -type d -print' | sort
}

names() { for package in "$@"; do dpkg-deb -f "$package" Package; done; }
# The file of each of these packages, as it is called there.
paths() {
  for name in "$@"; do
    find build -maxdepth 1 -name "${name}_*.deb" -printf '/packages/%f '
  done
}

# Every library that a file of these packages needs is found.
linked='for name in $names; do
  dpkg -L "$name" | while read -r file; do
    if [[ -f $file && $(head -c 4 "$file" | tr -d "\\0") == $(printf "\\177ELF") ]]; then
      ! ldd "$file" | grep "not found" || { echo "$file, of $name"; exit 1; }
    fi
  done
done'

# Packages that do not need OpenCV come without it. An ordinary user compiles, runs and measures the network.
use_tool() {
  local names=(libmillrace0 libmillrace-cpu0 libvart-ml0 libnrt1-millrace libxrt-coreutil0 millrace)
  inside "apt-get update -q
    apt-get install -yq --no-install-recommends $(paths "${names[@]}")" >>"$log"
  inside "! dpkg-query -W -f '\${Package}\n' | grep opencv || { echo 'OpenCV was installed'; exit 1; }"
  inside "names='${names[*]}'; $linked"
  inside "cd /tmp; exec setpriv --reuid 65534 --regid 65534 --clear-groups bash -euo pipefail -c '
    export HOME=/tmp
    millrace compile /millrace/models/glyphs/glyphs.onnx -o glyphs.rai
    head -c 4096 /dev/zero > image.bin
    millrace run glyphs.rai --input image.bin --top 1
    millrace bench glyphs.rai -n 200
    millrace evaluate glyphs.rai --data /millrace/models/glyphs/heldback_images.npy \
      --labels /millrace/models/glyphs/heldback_labels.npy --scale 0.0039215686'"
}

# The first block of a kind in a document.
block() { sed -n "/^\`\`\`$2\$/,/^\`\`\`\$/{//!p;/^\`\`\`\$/q}" "$1"; }

# The root file system of deploy/Containerfile: what it has suffices, and is small.
use_container() {
  inside 'apt-get update -q > /dev/null
    /millrace/deploy/make_root.sh /packages /tmp/image > /dev/null
    mkdir /tmp/image/proc; mount --rbind /proc /tmp/image/proc
    size=$(du -smx /tmp/image | cut -f1); echo "$size MB"; [[ $size -le 120 ]]
    cp /millrace/models/glyphs/glyphs.onnx /tmp/image/work; chmod a+r /tmp/image/work/*
    for words in "compile /work/glyphs.onnx -o /work/glyphs.rai" "bench /work/glyphs.rai -n 200"; do
      chroot --userspec=1000:1000 /tmp/image /usr/bin/millrace $words
    done'
}

use_recipe() {
  block docs/ci.md sh >"$root/root/npu.sh"
  inside 'mkdir /tmp/project; cd /tmp/project; ln -s /packages packages
    sh /root/npu.sh; rm /root/npu.sh' >"$folder/recipe.txt" 2>&1 || {
    cat "$folder/recipe.txt" >&2
    fail 'the lines of docs/ci.md failed'
  }
}

# A sample of each face, and the program of docs/native-api.md, against libmillrace-dev.
build_programs() {
  inside 'cd /tmp; cp -r /usr/share/millrace/samples /millrace/tests/install/x_client .
    millrace compile /usr/share/millrace/models/glyphs/glyphs.onnx -o glyphs.rai
    head -c 16384 /dev/zero > image.bin
    for sample in vart_callback vart_zerocopy nrt_load_run; do make -sC samples/$sample; done
    samples/vart_callback/vart_callback glyphs.rai image.bin
    samples/vart_zerocopy/vart_zerocopy --help > /dev/null
    samples/nrt_load_run/nrt_load_run glyphs.rai
    make -sC x_client
    x_client/program'
  block docs/native-api.md cpp >"$root/root/first_job.cpp"
  inside "$first_job"
}
first_job='cd /root
  g++ -std=c++20 first_job.cpp $(pkg-config --cflags --libs millrace) -o first_job
  millrace compile /millrace/models/glyphs/glyphs.onnx -o /tmp/glyphs.rai
  ./first_job /tmp/glyphs.rai /millrace/models/glyphs/heldback_images.npy | tee /tmp/text
  [[ $(cat /tmp/text) == "#&A2V#+ZJXK8100Y6S\$8+P021N?@KPJY3FG9RTMU" ]]
  echo; rm first_job*'

# It brings its own libraries, in any place, and needs those of Debian that the packages needed.
use_tarball() {
  block docs/native-api.md cpp >"$root/root/first_job.cpp"
  inside 'mkdir /tmp/anywhere
    tar -C /tmp/anywhere -xf /packages/millrace-*.tar.gz
    prefix=$(echo /tmp/anywhere/millrace-*)
    ldd $prefix/bin/millrace | grep "libmillrace.so.0 => $prefix/"
    eval "$($prefix/bin/millrace env)"
    [[ $(pkg-config --variable=libdir vart-ml) == $prefix/* ]]
    '"$first_job"
}

[[ $(id -u) -eq 0 ]] || skip 'not root'
shopt -s nullglob
packages=(build/*.deb) tarballs=(build/millrace-*.tar.gz)
[[ ${#packages[@]} -gt 0 && ${#tarballs[@]} -gt 0 ]] || fail 'run `make package tarball` first'
scripts/setup.sh --packages || skip 'no mmdebstrap'
mkdir -p "$folder"
use_proxy
step 'lintian'
lintian --fail-on error "${packages[@]}"
step 'a clean Debian 12'
make_root
inside true 2>>"$log" || skip "no mounts; see $log"
before=$(files)
rm "$root/clean"

step 'the root file system of the container'
use_container
step 'the tool and the libraries, without what they do not need'
use_tool
step 'the recipe of docs/ci.md'
use_recipe
step 'programs against libmillrace-dev'
inside "apt-get install -yq --no-install-recommends $(printf '/%s ' "${packages[@]/#build/packages}") \
  g++ make pkg-config libboost-program-options-dev libopencv-imgcodecs-dev" >>"$log"
inside "names='$(names "${packages[@]}" | xargs)'; $linked"
build_programs
own=$(inside "dpkg -L $(names "${packages[@]}" | xargs) | sort -u")
inside "apt-get purge -yq $(names "${packages[@]}" | xargs)" >>"$log"
step 'the tarball'
use_tarball
step 'nothing is left'
left=$(comm -12 <(echo "$own") <(files))
[[ -z $left ]] || fail "these files are left: $left"
inside "apt-get purge -yq --autoremove g++ make pkg-config libboost-program-options-dev \
  libopencv-imgcodecs-dev" >>"$log"
left=$(comm -13 <(echo "$before") <(files))
[[ -z $left ]] || fail "these files are left: $left"
touch "$root/clean"
step 'done'
