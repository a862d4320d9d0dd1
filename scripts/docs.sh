#!/usr/bin/env bash
# Looks after the help in doc/, and after the README's pictures.
#
#   scripts/docs.sh write       makes the help's tables anew from the Lua code, and its tags
#   scripts/docs.sh check       fails when a table is out of date, a tag missing or defined twice, a
#                               link leads nowhere, or a line is too long
#   scripts/docs.sh pictures    makes doc/images anew; needs what `make build` left in lib/, and
#                               xterm, Xvfb, ImageMagick and the font JetBrains Mono
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
case ${1:-} in
  write | check | pictures) ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
nvim=$("$root/scripts/nvim.sh" all | tail -n 1)

if [ "$1" != write ]; then
  # A short name: it is in the pictures.
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/XXXX")
  trap 'rm -rf "$scratch"' EXIT
fi
if [ "$1" = pictures ]; then
  "$nvim" --headless -u NONE -i NONE -n -l "$root/scripts/docs_pictures.lua" \
    "$root" "$nvim" "$scratch"
  exit
fi

doc=$root/doc
if [ "$1" = check ]; then
  # Neovim writes the tags beside the text; a check changes nothing in the checkout.
  cp "$doc/acp.txt" "$scratch"
  doc=$scratch
fi
"$nvim" --headless -u NONE -i NONE -n -l "$root/scripts/docs.lua" "$1" "$root" "$doc"
