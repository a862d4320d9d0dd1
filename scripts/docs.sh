#!/usr/bin/env bash
# Looks after the help in doc/.
#
#   scripts/docs.sh write    makes its tables anew from the Lua code, and its tags
#   scripts/docs.sh check    fails when a table is out of date, a tag missing or defined twice, a
#                            link leads nowhere, or a line is too long
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
case ${1:-} in
  write | check) ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
nvim=$("$root/scripts/nvim.sh" all | tail -n 1)

doc=$root/doc
if [ "$1" = check ]; then
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  # Neovim writes the tags beside the text; a check changes nothing in the checkout.
  cp "$doc/acp.txt" "$copy"
  doc=$copy
fi
"$nvim" --headless -u NONE -i NONE -n -l "$root/scripts/docs.lua" "$1" "$root" "$doc"
