--- How things look beyond colours: which characters there are, borders, and what is concealed. The
--- core draws the transcript and is told the same.

local M = {}

---@class (exact) acp.Glyphs
---@field spinner string[]
---@field dot string between names
---@field ellipsis string
---@field done string
---@field current string
---@field pending string
---@field full string a filled part of a bar
---@field empty string
---@field eye string before what is followed

---@type table<'unicode'|'ascii', acp.Glyphs>
local glyphs = {
  unicode = {
    spinner = { '⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏' },
    dot = '·',
    ellipsis = '…',
    done = '✓',
    current = '▶',
    pending = '○',
    full = '█',
    empty = '░',
    eye = '◉',
  },
  ascii = {
    spinner = { '|', '/', '-', '\\' },
    dot = '|',
    ellipsis = '...',
    done = 'x',
    current = '>',
    pending = '-',
    full = '#',
    empty = '.',
    eye = '@',
  },
}

local ascii_border = { '+', '-', '+', '|', '+', '-', '+', '|' }

--- Terminals whose fonts have little more than the characters of a typewriter.
---@type table<string, true>
local poor = { linux = true, dumb = true, vt100 = true, vt220 = true }

--- Whether only ASCII is to be drawn. Colours are another matter, and so is `$NO_COLOR`.
---@return boolean
function M.ascii()
  local icons = require('acp.config').get().icons
  if icons == 'auto' then
    return poor[vim.env.TERM or ''] == true
  end
  return icons == 'ascii'
end

--- The characters to draw with.
---@return acp.Glyphs
function M.glyphs()
  return glyphs[M.ascii() and 'ascii' or 'unicode']
end

--- The border of our floating windows: the user's own where 'winborder' is set.
---@return 'rounded'|string[]|nil nil leaves it to Neovim
function M.border()
  if vim.fn.exists('+winborder') == 1 and vim.o.winborder ~= '' then
    return nil
  end
  return M.ascii() and ascii_border or 'rounded'
end

--- Tells the core, which draws anew what it has drawn otherwise.
function M.send()
  local client = require('acp.client')
  if client.running() then
    local conceal = require('acp.config').get().chat.conceal
    client.send({ type = 'look', ascii = M.ascii(), conceal = conceal })
  end
end

--- Starts listening: the core has to know before it draws anything.
function M.attach()
  M.send()
end

return M
