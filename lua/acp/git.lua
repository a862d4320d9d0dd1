--- What git says of a project. The core asks it, so that nothing in the repository is run
--- (`src/runtime/git.rs`): nobody else does.

local client = require('acp.client')

local M = {}

---@type table<integer, fun(effect: acp.GitEffect)> by tag
local waiting = {}
local last_tag = 0
local attached = false

---@param effect acp.GitEffect
local function answered(effect)
  local fn = waiting[effect.tag]
  if effect.last then
    waiting[effect.tag] = nil
  end
  if fn then
    fn(effect)
  end
end

---@param what 'files'|'diff'
---@param cwd string
---@param fn fun(effect: acp.GitEffect) called for each piece
---@return boolean sent
local function ask(what, cwd, fn)
  if not attached then
    attached = true
    client.subscribe('git', answered)
  end
  last_tag = last_tag + 1
  local action = { type = 'git', what = what, cwd = cwd, tag = last_tag }
  waiting[last_tag] = fn
  local sent = client.send(action --[[@as acp.GitAction]])
  return sent ~= nil
end

--- The names of the files that git tracks or would track, seen from the folder.
---@param cwd string
---@param take fun(names: string) gets some of them, with a NUL after each
---@param done fun(known: boolean) called at the end, with whether git knows of the folder
function M.files(cwd, take, done)
  local sent = ask('files', cwd, function(effect)
    take(effect.text)
    if effect.last then
      done(effect.known)
    end
  end)
  if not sent then
    done(false)
  end
end

--- What differs from the last commit.
---@param cwd string
---@param fn fun(text: string?, cut: boolean) nil when git cannot say
function M.diff(cwd, fn)
  local sent = ask('diff', cwd, function(effect)
    fn(effect.known and effect.text or nil, effect.cut)
  end)
  if not sent then
    fn(nil, false)
  end
end

return M
