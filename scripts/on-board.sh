#!/usr/bin/env bash
# Runs a command that sees the files below ROOT, which scripts/stage-board.sh laid out, at the board's paths:
# /etc/vai and /run/media/mmcblk0p1. Nobody else sees them there, and nothing of the machine changes. The
# command runs as the same user in the same folder, and finds the staged samples by their names; without a
# command, a shell does.
# usage: scripts/on-board.sh ROOT [COMMAND [ARGUMENT...]]
set -euo pipefail

if [[ $# -eq 0 || $1 == -h || $1 == --help ]]; then
  sed -n '2,/^# usage/s/^# //p' "$0"
  [[ $# -gt 0 ]] && exit 0 || exit 2
fi
root=$(realpath "$1")
shift
[[ $# -gt 0 ]] || set -- "${SHELL:-bash}"

fail() {
  printf 'on-board: %s\n' "$*" >&2
  exit 1
}

# Lays ROOT's folder over the one of the machine. Both are read only then; the parent that exists is covered if
# the folder itself does not exist, since it cannot be made.
cover() {
  local place=$1
  while [[ ! -d $place ]]; do place=$(dirname "$place"); done
  cd "$root$place" && mount -t overlay board -o "lowerdir=.:$place" "$place"
}

# In the namespace, where this user may mount: mounts, then runs the command as the user and group $1.
enter() {
  local identity=$1 folder=$PWD place
  shift
  for place in /etc/vai /run/media/mmcblk0p1; do cover "$place" || fail "cannot mount $root$place"; done
  cd "$folder"
  for place in "$root"/home/root/samples/*/; do PATH=${place%/}:$PATH; done
  [[ -z $identity ]] ||
    exec unshare --user --map-user="${identity%:*}" --map-group="${identity#*:}" -- "$@"
  exec "$@"
}

[[ -d $root/etc/vai && -d $root/run/media/mmcblk0p1 ]] ||
  fail "$root is no tree that stage-board.sh made: it has no etc/vai or no run/media/mmcblk0p1"
namespace=(unshare --mount)
identity=
if [[ $(id -u) -ne 0 ]]; then
  namespace=(unshare --user --map-root-user --mount)
  identity=$(id -u):$(id -g)
fi
"${namespace[@]}" true 2>/dev/null ||
  fail "this machine does not let you mount in a namespace: run as root, or stage into / of a container"
export root
export -f cover enter fail
exec "${namespace[@]}" bash -c 'set -euo pipefail; enter "$@"' on-board "$identity" "$@"
