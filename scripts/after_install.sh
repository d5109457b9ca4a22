#!/usr/bin/env bash
# Prints the command that makes an installation known to a shell, so that compilers and programs find it.
# Below /usr and /usr/local, where the loader looks by itself, only its cache must be renewed: as root, the
# script does that.
# usage: scripts/after_install.sh PREFIX
set -euo pipefail
prefix=$(realpath -ms "${1:?usage: scripts/after_install.sh PREFIX}")
PATH=$PATH:/usr/sbin:/sbin
if [[ -n ${DESTDIR:-} ]]; then
  exit 0 # the files are the content of a package, not yet an installation
elif [[ $prefix != /usr && $prefix != /usr/local ]]; then
  printf 'Installed. In every shell that uses it:\n\n    eval "$(%q env)"\n' "$prefix/bin/millrace"
elif [[ $(id -u) -eq 0 ]]; then
  ldconfig
  echo "Installed; the loader's cache is renewed. pkg-config and programs find it."
else
  printf 'Installed. As root, for programs to find the libraries:\n\n    ldconfig\n'
fi
