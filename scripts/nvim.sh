#!/usr/bin/env bash
# Finds Neovim for building, testing and trying the plugin, and fetches it where it is missing.
#
#   scripts/nvim.sh all    the Neovims to test with, one path per line
#   scripts/nvim.sh one    the one to use by hand
#
# NVIM=/path/to/nvim overrides both. Only paths go to standard output.
#
# On Debian the oldest supported version and the newest are unpacked side by side into .deps,
# whatever the system has: nothing is installed. Elsewhere the nvim on PATH is used.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
deps=$root/.deps
oldest=trixie # Neovim 0.10
newest=sid    # the newest release in Debian

say() { echo "nvim.sh: $*" >&2; }

# Prints the version, such as 0.12.4; fails when the program does not run.
version_of() {
  "$1" --version 2>/dev/null </dev/null | sed -n '1s/^NVIM v\([0-9][0-9.]*\).*/\1/p' | grep .
}

new_enough() {
  local version major minor
  version=$(version_of "$1") || return 1
  IFS=. read -r major minor _ <<<"$version"
  [ "$major" -gt 0 ] || [ "$minor" -ge 10 ]
}

# Neovim's own terminal sets NVIM to a socket: that is no wish for another program.
wished() {
  [ -n "${NVIM:-}" ] && [ ! -S "$NVIM" ] || return 1
  local path
  path=$(command -v "$NVIM") || { say "NVIM=$NVIM is not a program"; exit 1; }
  new_enough "$path" || { say "NVIM=$NVIM is not Neovim 0.10 or later"; exit 1; }
  absolute "$path"
}

on_path() {
  local path
  path=$(command -v nvim) && new_enough "$path" && absolute "$path"
}

absolute() { echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"; }

# A link named after the suite leads to the folder named after the version. The version is not
# known before the download, and a second run must not ask the network for it.
link_of() { echo "$deps/nvim-$1"; }

fetched() {
  local folder
  folder=$(cd "$(link_of "$1")" 2>/dev/null && pwd -P) || return 1
  # Runs it: the program holds the absolute path of its loader, so a moved checkout breaks it.
  version_of "$folder/nvim" >/dev/null && echo "$folder/nvim"
}

fetch() {
  local tool
  fetched "$1" && return
  for tool in apt-get dpkg-deb flock; do command -v "$tool" >/dev/null || return 1; done
  mkdir -p "$deps"
  # A subshell, so that the lock ends with it, however it ends.
  (
    flock 9
    fetched "$1" && exit
    trap 'rm -rf "$deps/nvim.new"' EXIT
    trap 'exit 130' INT TERM HUP
    unpack "$1" "$deps/nvim.new"
    fetched "$1"
  ) 9>"$deps/nvim.lock"
}

# Unpacks Neovim of a suite into a temporary folder and moves it to its place when it is whole.
unpack() {
  local suite=$1 new=$2 version folder
  rm -rf "$new"
  say "fetching Neovim from Debian $suite into .deps (once)"
  # Nothing here may run with the lock open, or a stray child would hold it.
  "$root/scripts/debian.sh" "$suite" "$new/root" neovim patchelf 9>&- || return 1
  write_wrapper "$new"
  patch_loader "$new" "$new"
  version=$(version_of "$new/nvim") || { say "the fetched Neovim does not run"; return 1; }
  folder=$deps/nvim-$version
  if ! version_of "$folder/nvim" >/dev/null; then
    patch_loader "$new" "$folder"
    rm -rf "$folder"
    mv "$new" "$folder"
  fi
  ln -sfn "nvim-$version" "$(link_of "$suite")"
  say "Neovim $version is ready"
}

# Makes the program use the loader and the libraries that came with it: those of the system may
# be older than the ones it was built for. Starting it through the loader instead would do only
# without a screen, because the terminal UI starts its own program file again.
patch_loader() {
  local in=$1 final=$2 libc triplet loader
  libc=$(cd "$in/root" && ls -d usr/lib/*/libc.so.6)
  triplet=$(basename "$(dirname "$libc")")
  loader=$(cd "$in/root/usr/lib/$triplet" && ls ld-linux*.so.*)
  local lib=$in/root/usr/lib/$triplet
  "$lib/$loader" --library-path "$lib" "$in/root/usr/bin/patchelf" \
    --set-interpreter "$final/root/usr/lib/$triplet/$loader" \
    --force-rpath --set-rpath "\$ORIGIN/../lib/$triplet" "$in/root/usr/bin/nvim"
}

write_wrapper() {
  cat >"$1/nvim" <<'WRAPPER'
#!/bin/sh
# Starts the unpacked Neovim beside this file with its own runtime and Lua modules.
root=${0%/*}/root
for lib in "$root"/usr/lib/*/lua/5.1; do :; done
export VIMRUNTIME="$root/usr/share/nvim/runtime"
export LUA_PATH="$root/usr/share/lua/5.1/?.lua;$root/usr/share/lua/5.1/?/init.lua;;"
export LUA_CPATH="$lib/?.so;;"
exec "$root/usr/bin/nvim" "$@"
WRAPPER
  chmod +x "$1/nvim"
}

give_up() {
  say "no Neovim 0.10 or later found, and none could be fetched."
  say "Install one so that nvim is on PATH, or give its path: NVIM=/path/to/nvim"
  say "(it is fetched only on Debian, with apt-get, dpkg-deb and flock, and a network)"
  exit 1
}

all() {
  wished && return
  local paths path
  if paths=$(fetch "$oldest" && fetch "$newest"); then
    echo "$paths"
  elif path=$(on_path); then
    say "could not fetch the test versions: using only $path ($(version_of "$path"))"
    echo "$path"
  else
    give_up
  fi
}

one() {
  wished || on_path || fetched "$newest" || fetched "$oldest" ||
    fetch "$newest" || fetch "$oldest" || give_up
}

case ${1:-} in
  all) all ;;
  one) one ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
