#!/usr/bin/env bash
# Unpacks Debian packages, with all they depend on, into a folder, without installing anything
# and without being root. The system's own packages and apt state are neither used nor changed.
#
#   scripts/debian.sh SUITE FOLDER PACKAGE...
#
# FOLDER must not exist. The address of the archive comes from this machine's apt configuration.
set -euo pipefail

suite=${1:?suite} folder=${2:?folder}
shift 2
[ $# -gt 0 ] || { echo "debian.sh: no package named" >&2; exit 2; }

for tool in apt-get dpkg dpkg-deb; do
  command -v "$tool" >/dev/null || { echo "debian.sh: $tool is missing: not a Debian system" >&2; exit 3; }
done

mkdir -p "$(dirname "$folder")"
state=$(mktemp -d "$(dirname "$folder")/.apt.XXXXXX")
trap 'rm -rf "$state"' EXIT
mkdir -p "$state"/{lists,cache}/partial
: >"$state/status"

options=(
  -qq
  -o "Dir::Etc::sourcelist=$state/archive.sources"
  -o Dir::Etc::sourceparts=/dev/null
  -o Dir::Etc::preferences=/dev/null
  -o Dir::Etc::preferencesparts=/dev/null
  -o "Dir::State::lists=$state/lists"
  -o "Dir::State::status=$state/status"
  -o "Dir::Cache=$state"
  -o "Dir::Cache::archives=$state/cache"
  -o APT::Install-Recommends=false
  -o APT::Get::List-Cleanup=false
  -o Acquire::Languages=none
  -o Acquire::PDiffs=false
  -o Acquire::Retries=3
  -o Dpkg::Use-Pty=0
)
# As root, apt downloads as its own user, who may not write below a home or checkout folder.
[ "$(id -u)" != 0 ] || options+=(-o APT::Sandbox::User=root)

# Lists what apt would fetch for an update, which needs no package lists to be there, unlike
# `apt-get indextargets`, and works in a fresh container too.
archives() {
  apt-get update --print-uris 2>/dev/null |
    sed -n "s|^'\(.*\)/dists/.*/InRelease'.*|\1|p" | awk '!seen[$0]++'
}

write_source() {
  local keyring
  printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\n' "$1" "$suite"
  printf 'Architectures: %s\nTargets: Packages\n' "$(dpkg --print-architecture)"
  for keyring in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp}; do
    [ ! -e "$keyring" ] || { printf 'Signed-By: %s\n' "$keyring"; return; }
  done
}

# A machine may know several archives (security updates, other vendors): the first that has the
# suite serves.
find_archive() {
  local archive
  for archive in $(archives); do
    write_source "$archive" >"$state/archive.sources"
    if apt-get "${options[@]}" --error-on=any update >"$state/update.log" 2>&1; then
      return
    fi
  done
  echo "debian.sh: no archive in this machine's apt configuration has Debian's suite $suite" >&2
  [ ! -e "$state/update.log" ] || sed 's/^/  /' "$state/update.log" >&2
  return 1
}

find_archive
apt-get "${options[@]}" install --download-only --yes "$@" >&2 </dev/null
mkdir "$state/root"
for package in "$state"/cache/*.deb; do
  dpkg-deb -x "$package" "$state/root"
done
mv "$state/root" "$folder"
