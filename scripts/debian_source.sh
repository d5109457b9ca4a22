# Helps scripts that fetch Debian packages of another release; it is sourced, not run.

# Prints the address of the machine's own source of Debian packages, as apt knows it; prints nothing
# where apt has no lists yet.
debian_source() {
  # shellcheck disable=SC2016  # apt's variable
  apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' \
    'Label: Debian' | awk 'NR == 1'
}
