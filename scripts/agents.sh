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
goose_version=1.52.0

say() { echo "agents.sh: $*" >&2; }

# Fetches a package without running anything of it.
fetch() {
  command -v npm >/dev/null || { say "npm is missing: install Node.js 20 or later"; return 1; }
  npm install --prefix "$1" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error \
    "$2" >&2 9>&-
}

# Holds the programs of all variants that may run on this platform, and a launcher that would
# start one by Node.js. The first that runs here is taken, without the launcher: one process less.
install_opencode() {
  fetch "$1" "opencode-ai@$opencode_version" || return 1
  take "$1" opencode "$1"/node_modules/opencode-*/bin/opencode
}

install_goose() {
  fetch "$1" "@aaif/goose-binary-linux-x64@$goose_version" || return 1
  take "$1" goose "$1"/node_modules/@aaif/goose-binary-*/bin/goose
}

# Keeps the first of these programs that runs on this machine.
take() {
  local folder=$1 name=$2 program
  shift 2
  for program in "$@"; do
    if runs "$program"; then
      mv "$program" "$folder/$name"
      rm -rf "$folder/node_modules"
      return
    fi
  done
  say "no program of $name runs on this machine"
  return 1
}

# Run away from the user's own files, which it would otherwise read and make.
runs() {
  local home result=0
  home=$(mktemp -d)
  env -i PATH="$PATH" HOME="$home" "$1" --version >/dev/null 2>&1 9>&- </dev/null || result=1
  rm -rf "$home"
  return "$result"
}

# Installs into a temporary folder, which gets its name only when the agent in it runs: an
# interrupted run leaves nothing that a later one would take for whole.
agent() {
  local name=$1 folder=$deps/$1-$2
  if [ ! -x "$folder/$name" ]; then
    mkdir -p "$deps"
    (
      ! command -v flock >/dev/null || flock 9
      [ ! -x "$folder/$name" ] || exit 0
      say "fetching $name $2 into .deps (once)"
      new=$deps/$name.new
      trap 'rm -rf "$new"' EXIT
      trap 'exit 130' INT TERM HUP
      rm -rf "$new" "$folder" && mkdir "$new" && "install_$name" "$new" && mv "$new" "$folder"
    ) 9>"$deps/$name.lock" || return 1
  fi
  echo "$folder/$name"
}

nvims=$(scripts/nvim.sh all)
ACP_TEST_OPENCODE=$(agent opencode "$opencode_version")
ACP_TEST_GOOSE=$(agent goose "$goose_version")
export ACP_TEST_OPENCODE ACP_TEST_GOOSE ACP_TEST_NVIMS=${nvims//$'\n'/:}
exec cargo test --no-default-features --test agents -- "$@"
