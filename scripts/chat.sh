#!/usr/bin/env bash
# Opens a chat with the tutor on a scratch project, away from your own configuration and files.
# Without a terminal it runs the same conversation by itself and prints the transcript.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
nvim=$("$root/scripts/nvim.sh" one)

scratch=$(mktemp -d "${TMPDIR:-/tmp}/acp-chat.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP
for kind in config data state cache; do
  mkdir -p "$scratch/$kind"
  export "XDG_$(tr '[:lower:]' '[:upper:]' <<<"$kind")_HOME=$scratch/$kind"
done

mkdir "$scratch/project"
cd "$scratch/project"
cat >README.md <<'TEXT'
# Greetings

`greet.py` greets whoever is named on the command line.
TEXT
cat >greet.py <<'TEXT'
import sys


def greet(name):
    return "Hello, " + name


if __name__ == "__main__":
    print(greet(sys.argv[1]))
TEXT
if command -v git >/dev/null; then
  # Run from a hook, git would take the repository of the hook for ours.
  unset "${!GIT_@}"
  git init --quiet
  git add .
  git -c user.name=acp -c user.email=acp@localhost -c commit.gpgsign=false \
    -c core.hooksPath=/dev/null commit --quiet --message "Start"
fi

# Takes the path from the environment, where it needs no quoting for Vim's command line.
export ACP_ROOT=$root
rtp='lua vim.opt.runtimepath:prepend(vim.env.ACP_ROOT)'

if [ -t 0 ] && [ -t 1 ]; then
  "$nvim" --clean --cmd "$rtp" -c 'AcpChat tutor' greet.py
  exit
fi

# A mistake in the tour must end Neovim: without a screen nobody else would.
tour='lua local ok, err = xpcall(dofile, debug.traceback, vim.env.ACP_ROOT .. "/scripts/tour.lua")
if not ok then io.stderr:write(err, "\n") vim.cmd("cquit 1") end'
limit=()
! command -v timeout >/dev/null || limit=(timeout --kill-after=5 60)
status=0
"${limit[@]+"${limit[@]}"}" "$nvim" --headless -u NONE -i NONE -n --cmd "$rtp" \
  -c 'runtime plugin/acp.lua' -c "$tour" </dev/null || status=$?
[ "$status" != 124 ] || echo "chat.sh: the tour was not over after 60 s" >&2
exit "$status"
