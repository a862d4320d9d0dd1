--- Plans of agents as data: their steps, what is done, and what comes next.

local M = {}

--- The items of a list with boxes to tick, which is how plans are written in Markdown.
---@param markdown string
---@return acp.PlanEntry[]
local function ticked(markdown)
  local steps = {}
  for box, content in markdown:gmatch('[-*+] %[([ xX])%] ([^\n]+)') do
    local status = box == ' ' and 'pending' or 'completed'
    table.insert(steps, { content = content, priority = 'medium', status = status })
  end
  return steps
end

---@param plan acp.Plan
---@return acp.PlanEntry[]
local function steps_of(plan)
  if plan.markdown then
    return ticked(plan.markdown)
  end
  return plan.entries or {}
end

---@param steps acp.PlanEntry[]
---@return integer
local function count_done(steps)
  local done = 0
  for _, step in ipairs(steps) do
    done = done + (step.status == 'completed' and 1 or 0)
  end
  return done
end

--- The steps of the plan that is being worked on, and how many of them are done. Nil when nothing
--- is left to do.
---@param settings acp.Settings
---@return acp.PlanEntry[]?, integer done
function M.at_work(settings)
  for _, plan in ipairs(settings.plans) do
    local steps = steps_of(plan)
    local done = count_done(steps)
    if done < #steps then
      return steps, done
    end
  end
  return nil, 0
end

--- Such as "3/7", empty when nothing is left to do.
---@param settings acp.Settings
---@return string
function M.progress(settings)
  local steps, done = M.at_work(settings)
  return steps and ('%d/%d'):format(done, #steps) or ''
end

--- The step that is being worked on, or else the first that is not done.
---@param steps acp.PlanEntry[]
---@return integer
function M.current(steps)
  for _, wanted in ipairs({ 'in_progress', 'pending' }) do
    for i, step in ipairs(steps) do
      if step.status == wanted then
        return i
      end
    end
  end
  return 1
end

--- A plan that is a file can be a long one, and it is read while the user waits.
local most_lines, most_bytes = 2000, 256 * 1024

--- The text of a plan's file, nil when it can't be read.
---@param file string path or URI
---@return string?
function M.read(file)
  local path = vim.startswith(file, 'file:') and vim.uri_to_fname(file) or file
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type ~= 'file' or stat.size > most_bytes then
    return nil
  end
  local ok, lines = pcall(vim.fn.readfile, path, '', most_lines)
  return ok and table.concat(lines, '\n') or nil
end

return M
