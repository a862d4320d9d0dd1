--- What of a preview is to be done: all of it, or one by one.

local preview = require('acp.apply.preview')
local text = require('acp.text')
local words = require('acp.apply.words')

local M = {}

--- How much of what has no place is told.
local most = 5

--- At the foot of the screen, so that what is shown stays in view.
---@param room acp.Room
---@param rows fun(width: integer): integer
---@return acp.Box
local function place(room, rows)
  local width = math.min(room.width, 78)
  local height = math.min(rows(width), math.max(room.height - 3, 1))
  return {
    row = room.row + room.height - height,
    col = room.col + math.floor((room.width - width) / 2),
    width = width,
    height = height,
  }
end

---@param missing acp.PlacedMissing[]
---@return string[]
local function about(missing)
  local lines = {}
  for _, it in ipairs(vim.list_slice(missing, 1, most)) do
    table.insert(lines, 'Not this: ' .. words.missing(it))
  end
  if #missing > most then
    table.insert(lines, ('and %d more'):format(#missing - most))
  end
  return lines
end

---@param items { label: string, run: fun() }[]
---@param prompt string
---@param opts { about?: string[], how: acp.MomentHow, cancel: fun() }
---@return acp.Choosing
local function ask(items, prompt, opts)
  return require('acp.ui.select').open(items, {
    prompt = text.one_line(prompt),
    kind = 'acp_apply',
    about = opts.about,
    place = place,
    moment = { how = opts.how },
    format_item = function(item)
      return item.label
    end,
  }, function(item)
    if item then
      item.run()
    else
      opts.cancel()
    end
  end)
end

--- What is chosen from: `done` gets the hunks that are wanted, none for nothing.
---@class (exact) acp.ApplyChoice
---@field win integer
---@field name string of the buffer
---@field hunks acp.PlacedHunk[]
---@field missing acp.PlacedMissing[]
---@field choosing? acp.Choosing what is on the screen
---@field done fun(hunks: acp.PlacedHunk[])

---@param choice acp.ApplyChoice
---@param number integer
---@param wanted acp.PlacedHunk[]
local function one(choice, number, wanted)
  local hunk = choice.hunks[number]
  if not hunk or not vim.api.nvim_win_is_valid(choice.win) then
    return choice.done(hunk and {} or wanted)
  end
  preview.show(choice.win, { hunk }, number, #choice.hunks)
  preview.go_to(choice.win, hunk.edits[1])
  local function take(hunks)
    return function()
      one(choice, number + 1, vim.list_extend(wanted, hunks))
    end
  end
  local function rest()
    choice.done(vim.list_extend(wanted, vim.list_slice(choice.hunks, number)))
  end
  local prompt = ('Change %d of %d in %s'):format(number, #choice.hunks, choice.name)
  choice.choosing = ask(
    {
      { label = 'Apply this one', run = take({ hunk }) },
      { label = 'Leave it out', run = take({}) },
      { label = 'Apply this one and all after it', run = rest },
      {
        label = 'Apply none',
        run = function()
          choice.done({})
        end,
      },
    },
    prompt,
    {
      how = 'next',
      cancel = function()
        choice.done({})
      end,
    }
  )
end

--- Asks what is to be done.
---@param choice acp.ApplyChoice
function M.open(choice)
  local count, lacking = #choice.hunks, #choice.missing
  local all = ('Apply all %d changes'):format(count)
  if lacking > 0 then
    all = ('Apply %s, and leave out %d'):format(words.count(count, 'change'), lacking)
  elseif count == 1 then
    all = 'Apply it'
  end
  local function none()
    choice.done({})
  end
  local items = {
    {
      label = all,
      run = function()
        choice.done(choice.hunks)
      end,
    },
    { label = 'Cancel', run = none },
  }
  if count > 1 then
    table.insert(items, 2, {
      label = 'One by one',
      run = function()
        one(choice, 1, {})
      end,
    })
  end
  choice.choosing = ask(items, 'Apply to ' .. choice.name, {
    about = about(choice.missing),
    how = 'called',
    cancel = none,
  })
end

return M
