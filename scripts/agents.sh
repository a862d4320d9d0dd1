#!/usr/bin/env bash
# Tests the plugin with real agents and a scripted model, without a network. The agents are
# fetched into .deps the first time; nothing is installed outside.
# Needs what `make build` left in lib/.
#
#   scripts/agents.sh [FILTER]...    runs the tests, or those whose names have a word
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

deps=$PWD/.deps/agents
opencode_version=1.18.33

say() { echo "agents.sh: $*" >&2; }

# Holds the programs of all variants that may run on this platform, and a launcher that would
# start one by Node.js. The first that runs here is taken, without the launcher: one process less.
install_opencode() {
  command -v npm >/dev/null || { say "npm is missing: install Node.js 20 or later"; return 1; }
  npm install --prefix "$1" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error \
    "opencode-ai@$opencode_version" >&2 9>&- || return 1
  local program
  for program in "$1"/node_modules/opencode-*/bin/opencode; do
    if runs_opencode "$program"; then
      mv "$program" "$1/opencode"
      rm -rf "$1/node_modules"
      return
    fi
  done
  say "none of OpenCode's programs runs on this machine"
  return 1
}

# Run away from the user's own files, which it would otherwise read and make.
runs_opencode() {
  local home version
  home=$(mktemp -d)
  version=$(env -i PATH="$PATH" HOME="$home" "$1" --version 2>/dev/null 9>&- </dev/null) || true
  rm -rf "$home"
  [ "$version" = "$opencode_version" ]
}

# Installs into a temporary folder, which gets its name only when the agent in it runs: an
# interrupted run leaves nothing that a later one would take for whole.
opencode() {
  local folder=$deps/opencode-$opencode_version
  if [ ! -x "$folder/opencode" ]; then
    mkdir -p "$deps"
    (
      ! command -v flock >/dev/null || flock 9
      [ ! -x "$folder/opencode" ] || exit 0
      say "fetching OpenCode $opencode_version into .deps (once)"
      new=$deps/opencode.new
      trap 'rm -rf "$new"' EXIT
      trap 'exit 130' INT TERM HUP
      rm -rf "$new" "$folder" && mkdir "$new" && install_opencode "$new" && mv "$new" "$folder"
    ) 9>"$deps/opencode.lock" || return 1
  fi
  echo "$folder/opencode"
}

nvims=$(scripts/nvim.sh all)
ACP_TEST_OPENCODE=$(opencode)
export ACP_TEST_OPENCODE ACP_TEST_NVIMS=${nvims//$'\n'/:}
exec cargo test --no-default-features --test agents -- "$@"
