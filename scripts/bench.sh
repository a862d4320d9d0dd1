#!/usr/bin/env bash
# Measures the plugin in the newest Neovim against a chat in pure Lua and prints a table.
# Needs what `make build` left in lib/.
#
#   scripts/bench.sh [--quick] [--reps N] [CASE...]
#
# A part of its name is enough to choose a case: `scripts/bench.sh read "write 10"`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

nvims=$(scripts/nvim.sh all)
export ACP_TEST_NVIMS=${nvims//$'\n'/:}
exec cargo bench --quiet --no-default-features --bench chat -- "$@"
