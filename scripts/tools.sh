#!/usr/bin/env bash
# Gives the checkers of the Lua code in the versions the project is checked with, and fetches
# them into .deps the first time. Nothing is installed outside.
#
#   scripts/tools.sh                  fetches all of them
#   scripts/tools.sh NAME             prints the path of one: stylua, luacheck, emmylua_check
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
deps=$root/.deps

stylua_version=2.5.2
luacheck_suite=trixie # luacheck 1.2.0
emmylua_version=0.25.1

say() { echo "tools.sh: $*" >&2; }

need() { command -v "$1" >/dev/null || { say "$1 is missing: install $2"; return 1; }; }

# The npm package carries the program for this platform; nothing is built and no script is run.
install_stylua() {
  need npm "Node.js 20 or later" || return 1
  npm install --prefix "$1" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error \
    "@johnnymorganz/stylua-bin@$stylua_version" >&2
  ln -s node_modules/.bin/stylua "$1/stylua"
}

# luacheck is Lua code; it comes with the interpreter and the libraries it needs, started by the
# loader that belongs to them.
install_luacheck() {
  "$root/scripts/debian.sh" "$luacheck_suite" "$1/root" lua-check 9>&- || return 1
  cat >"$1/luacheck" <<'WRAPPER'
#!/bin/sh
root=${0%/*}/root
for libc in "$root"/usr/lib/*/libc.so.6; do lib=${libc%/*}; done
for loader in "$lib"/ld-linux*.so.*; do :; done
export LUA_PATH="$root/usr/share/lua/5.1/?.lua;$root/usr/share/lua/5.1/?/init.lua"
export LUA_CPATH="$lib/lua/5.1/?.so"
exec "$loader" --library-path "$lib" "$root/usr/bin/lua5.1" "$root/usr/bin/luacheck" "$@"
WRAPPER
  chmod +x "$1/luacheck"
}

# No package carries the program, so it is built, which takes minutes. Only the parts that do the
# work are optimised, and little: it runs for some seconds.
install_emmylua_check() {
  need cargo "Rust, see rust-toolchain.toml" || return 1
  local crate hot=()
  for crate in emmylua_parser emmylua_code_analysis rowan hashbrown internment smol_str; do
    hot+=(--config "profile.release.package.$crate.opt-level=1")
  done
  env CARGO_TARGET_DIR="$1/target" CARGO_PROFILE_RELEASE_OPT_LEVEL=0 \
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_STRIP=symbols \
    cargo install --quiet --locked --root "$1" "${hot[@]}" \
    "emmylua_check@$emmylua_version" >&2 9>&- || return 1
  rm -rf "$1/target"
  ln -s bin/emmylua_check "$1/emmylua_check"
}

folder_of() {
  case $1 in
    stylua) echo "$deps/stylua-$stylua_version" ;;
    luacheck) echo "$deps/luacheck-$luacheck_suite" ;;
    emmylua_check) echo "$deps/emmylua_check-$emmylua_version" ;;
    *) say "no such tool: $1"; return 2 ;;
  esac
}

# Installs into a temporary folder, which gets its name only when the tool in it runs: an
# interrupted run leaves nothing that a later one would take for whole.
tool() {
  local name=$1 folder
  folder=$(folder_of "$name")
  if [ ! -x "$folder/$name" ]; then
    mkdir -p "$deps"
    (
      ! command -v flock >/dev/null || flock 9
      [ ! -x "$folder/$name" ] || exit 0
      say "fetching ${folder##*/} into .deps (once)"
      new=$deps/$name.new
      trap 'rm -rf "$new"' EXIT
      trap 'exit 130' INT TERM HUP
      rm -rf "$new"
      mkdir "$new"
      "install_$name" "$new"
      "$new/$name" --version >/dev/null
      mv "$new" "$folder"
    ) 9>"$deps/$name.lock"
  fi
  echo "$folder/$name"
}

if [ $# -gt 0 ]; then
  tool "$1"
else
  for name in stylua luacheck emmylua_check; do tool "$name" >/dev/null; done
fi
