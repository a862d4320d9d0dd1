#!/usr/bin/env bash
# Checks the Lua code: layout, mistakes, and types against Neovim's own runtime.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

paths=()
for path in lua plugin scripts tests build.lua; do
  [ ! -e "$path" ] || paths+=("$path")
done

stylua=$(scripts/tools.sh stylua)
luacheck=$(scripts/tools.sh luacheck)
emmylua_check=$(scripts/tools.sh emmylua_check)
nvim=$(scripts/nvim.sh all | tail -n 1)

echo "stylua: ${paths[*]}"
"$stylua" --check --config-path .stylua.toml "${paths[@]}"

echo "luacheck: ${paths[*]}"
"$luacheck" --quiet --no-color "${paths[@]}"

# .emmyrc.json names the library as $VIMRUNTIME, which an editor started from Neovim has as well.
VIMRUNTIME=$("$nvim" --headless -u NONE -i NONE -n -c 'lua io.write(vim.env.VIMRUNTIME)' -c qa)
export VIMRUNTIME
echo "emmylua_check: types against ${VIMRUNTIME#"$PWD/"}"
"$emmylua_check" --warnings-as-errors .
