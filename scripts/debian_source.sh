# Helps scripts that fetch Debian packages of another release; it is sourced, not run.

# Prints the address of the machine's own source of Debian packages, as apt knows it. Where apt has
# no lists, it calls skip(), which the script defines. That ends the command substitution and, by
# `set -e`, the script, if it assigns the address to a variable that is declared before.
debian_source() {
  local address
  # shellcheck disable=SC2016  # apt's variable
  address=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' \
    'Label: Debian' | awk 'NR == 1')
  [[ -n $address ]] || skip 'apt has no lists of Debian packages; run apt-get update'
  echo "$address"
}

# The machine's own proxy, which apt may know alone. It may also know that there is none (DIRECT).
use_proxy() {
  local proxy=
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  case $proxy in
    http://*) export http_proxy=$proxy ;;
    DIRECT) unset http_proxy ;;
  esac
}
