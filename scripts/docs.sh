#!/usr/bin/env bash
# Looks after the help in doc/.
#
#   scripts/docs.sh tags     writes doc/tags, as a plugin manager does
#   scripts/docs.sh check    fails when a tag is defined twice or a link leads nowhere
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
case ${1:-} in
  tags | check) ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
nvim=$("$root/scripts/nvim.sh" all | tail -n 1)

doc=$root/doc
compgen -G "$doc/*.txt" >/dev/null || { echo "docs.sh: there is no help in doc/" >&2; exit 1; }
if [ "$1" = check ]; then
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  # Neovim writes the tags beside the texts; a check changes nothing in the checkout.
  cp "$doc"/*.txt "$copy"
  doc=$copy
fi
"$nvim" --headless -u NONE -i NONE -n -l "$root/scripts/docs.lua" "$1" "$doc"
