#!/usr/bin/env bash
# Runs the sample nrt_all_reduce on ranks that are in network namespaces of their own, with an
# address each, as on several hosts, on a bridge of this machine. Nothing of it is left afterwards.
# Needs root, or whatever allows network and mount namespaces; ends with 77 and a line where that
# is not so.
#
# usage: scripts/ranks-netns.sh BUILD_FOLDER [RANKS...]     1 2 3 4 7 16 ranks where none are named
set -euo pipefail

cannot() {
  echo "ranks-netns: not run: $*" >&2
  exit 77
}

if [[ ${1:-} != --inside ]]; then
  build=$(cd "${1:?usage: scripts/ranks-netns.sh BUILD_FOLDER [RANKS...]}" && pwd)
  command -v ip >/dev/null || cannot 'there is no ip (iproute2)'
  unshare --net --mount true 2>/dev/null || cannot 'namespaces need rights that this user has not'
  # What is made inside ends with the last process that is there.
  exec unshare --net --mount "$0" --inside "$build" "${@:2}"
fi
shift
program=$1/bin/nrt_all_reduce
shift
counts=("$@")
((${#counts[@]} > 0)) || counts=(1 2 3 4 7 16)

most=$(printf '%s\n' "${counts[@]}" | sort -n | tail -n 1)
mkdir -p /run/netns
mount -t tmpfs ranks-netns /run/netns
ip link add ranks type bridge || cannot 'the system has no bridges'
ip link set ranks up
for ((rank = 0; rank < most; ++rank)); do
  ip netns add "rank$rank"
  ip link add "veth$rank" type veth peer name eth0 netns "rank$rank" || cannot 'the system has no veth'
  ip link set "veth$rank" master ranks up
  ip -n "rank$rank" addr add "10.77.0.$((rank + 1))/24" dev eth0
  ip -n "rank$rank" link set eth0 up
  ip -n "rank$rank" link set lo up
done

failed=0
export NEURON_RT_ROOT_COMM_ID=10.77.0.1:5000 MILLRACE_DEVICE=null
for count in "${counts[@]}"; do
  for numbers in 1000 1000000; do  # in one message, and in pieces
    pids=()
    for ((rank = 0; rank < count; ++rank)); do
      RANK=$rank WORLD_SIZE=$count nsenter --net="/run/netns/rank$rank" \
        timeout 300 "$program" -n 20 -c "$numbers" &
      pids+=($!)
    done
    for pid in "${pids[@]}"; do
      wait "$pid" || failed=1
    done
  done
done
exit "$failed"
