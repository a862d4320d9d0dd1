#!/usr/bin/env bash
# Builds the core and puts what Neovim loads into lib/: the library and its two programs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo build --release --features nvim
# Asks cargo, because settings of the user may have put the folder elsewhere.
built=$(cargo metadata --no-deps --format-version 1 |
  sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')/release

# Moves a copy into place: a running Neovim has the old file mapped, and writing into that one
# would kill it.
install() {
  cp "$1" "lib/.$2.$$"
  mv -f "lib/.$2.$$" "lib/$2"
}

mkdir -p lib
trap 'rm -f lib/.*.$$' EXIT
install "$built/acp-guard" acp-guard
install "$built/acp-tutor" acp-tutor
library=$built/libacp_nvim.so
[ -e "$library" ] || library=$built/libacp_nvim.dylib
install "$library" acp_nvim.so
