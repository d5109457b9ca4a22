#!/bin/sh
# Makes a root file system that has the tool of Millrace, the libraries that it needs, and nothing else,
# from the packages of `make package`. Runs on Debian 12, after apt-get update.
#
# usage: deploy/make_root.sh PACKAGES ROOT
set -eu
packages=$1 root=$2
archives=$(mktemp -d)
chmod 755 "$archives"
mkdir -p "$root/tmp" "$root/work"
chmod 1777 "$root/tmp" "$root/work"
set -- "$packages"/millrace_*.deb "$packages"/libmillrace0_*.deb "$packages"/libmillrace-cpu0_*.deb
# apt is told that nothing is installed, so it downloads whatever these packages depend on.
apt-get install -qy --no-install-recommends --download-only \
  -o Dir::State::status=/dev/null -o Dir::Cache::archives="$archives" "$@"
for package in "$archives"/*.deb "$@"; do dpkg-deb -x "$package" "$root"; done
rm -r "$archives"
rm -rf "$root/usr/share/man" "$root/usr/share/locale" "$root/usr/share/lintian"
find "$root/usr/share/doc" -type f ! -name copyright -delete
