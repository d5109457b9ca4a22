#!/usr/bin/env bash
# Says what makes an installation known to the shell, so that compilers and programs find it. Where the
# loader looks anyway, all it takes is to renew the loader's cache, which root does here.
# usage: scripts/after_install.sh PREFIX
set -euo pipefail
prefix=$(realpath -ms "${1:?usage: scripts/after_install.sh PREFIX}")
PATH=$PATH:/usr/sbin:/sbin
if [[ -n ${DESTDIR:-} ]]; then
  exit 0 # the content of a package, which knows where it will lie
elif [[ $prefix != /usr && $prefix != /usr/local ]]; then
  printf 'Installed. In every shell that uses it:\n\n    eval "$(%q env)"\n' "$prefix/bin/millrace"
elif [[ $(id -u) -eq 0 ]]; then
  ldconfig
  echo "Installed; the loader's cache is renewed. pkg-config and programs find it."
else
  printf 'Installed. As root, for programs to find the libraries:\n\n    ldconfig\n'
fi
