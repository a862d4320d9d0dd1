--- Completion in the prompt: the agent's commands after `/`, what can be mentioned after `@`, and
--- past prompts. It opens by itself unless something else completes there; 'omnifunc' always works.

local text = require('acp.text')

local M = {}

---@class (exact) acp.CompletionPlace
---@field kind 'command'|'mention'|'history'
---@field start integer byte column, from 0
---@field query string

local in_past = false -- past prompts are searched until the menu goes
local typed = false -- a character was typed since the text was last looked at
local opening = false -- the menu is being replaced by another
---@type integer? the text for which something was looked up last
local asked
---@type string[] past prompts in the menu
local past = {}

---@param before string the line up to the cursor
---@return acp.CompletionPlace?
local function mention_place(before)
  local head, query = before:match('^(.*)@(.*)$')
  if not head or not query or not (head == '' or head:match('[%s%(%[{<"\'`,;]$')) then
    return nil
  end
  local quoted = query:match('^"([^"]*)$')
  if quoted or not query:find('[%s"]') then
    return { kind = 'mention', start = #head, query = quoted or query }
  end
end

--- What can be completed where the cursor is.
---@return acp.CompletionPlace?
local function place()
  local cursor = vim.api.nvim_win_get_cursor(0)
  local before = vim.api.nvim_get_current_line():sub(1, cursor[2])
  if in_past then
    return { kind = 'history', start = 0, query = before }
  end
  local command = cursor[1] == 1 and before:match('^/(%S*)$')
  if command then
    return { kind = 'command', start = 0, query = command }
  end
  return mention_place(before)
end

---@return acp.SessionInfo?
local function here()
  local session = require('acp.session')
  return session.info(session.of_buffer(vim.api.nvim_get_current_buf()) or -1)
end

---@param command acp.SlashCommand
---@return table
local function command_item(command)
  local about = text.one_line(command.description)
  local hint = command.hint and command.hint ~= '' and text.one_line(command.hint)
  local word = '/' .. text.one_line(command.name)
  return {
    word = word,
    menu = text.shorten((hint and ('<%s> '):format(hint) or '') .. about, 60),
    info = hint and ('%s\n\n%s %s'):format(about, word, hint) or about,
    equal = 1,
  }
end

---@param info acp.SessionInfo
---@param query string
---@return table[]
local function command_items(info, query)
  local settings = require('acp.settings').get(info.id)
  local commands = settings and settings.commands or {}
  if query ~= '' then
    commands = vim.fn.matchfuzzy(commands, query, { key = 'name' })
  end
  return vim.tbl_map(command_item, commands)
end

---@param choice acp.Choosable
---@return table
local function mention_item(choice)
  return { word = choice.word, menu = text.shorten(choice.about, 50), info = '', equal = 1 }
end

---@param info acp.SessionInfo
---@param query string
---@return table[]
local function past_items(info, query)
  past = vim.list_slice(require('acp.history').search(info.cwd, query), 1, 50)
  local items = {}
  for i, prompt in ipairs(past) do
    local line = text.one_line(vim.trim(prompt))
    table.insert(items, {
      word = #line > 500 and text.shorten(line, 200) or line,
      abbr = text.shorten(line, 60),
      info = prompt:find('\n') and vim.trim(prompt):sub(1, 2000) or '',
      equal = 1,
      dup = 1,
      user_data = 'acp.history ' .. i,
    })
  end
  return items
end

--- Where 'completeopt' is for all of Neovim, it is lent for the moment in which it is looked at:
--- nothing is to be inserted that was not chosen.
---@param column integer
---@param items table[]
local function open_menu(column, items)
  local own = vim.fn.has('nvim-0.11') == 1
  local before = vim.o.completeopt
  if not own then
    vim.cmd('noautocmd set completeopt=menuone,noselect')
    for _, item in ipairs(items) do
      -- A preview window is too much.
      item.info = nil
    end
  end
  opening = true
  local ok, err = pcall(vim.fn.complete, column, items)
  opening = false
  if not own then
    vim.cmd.set({ 'completeopt=' .. before, mods = { noautocmd = true } })
  end
  if not ok then
    error(err, 0)
  end
end

---@param at acp.CompletionPlace
---@param items table[]
local function show(at, items)
  if #items > 0 or vim.fn.pumvisible() == 1 then
    open_menu(at.start + 1, items)
  end
end

---@param at acp.CompletionPlace
---@param info acp.SessionInfo
local function show_mentions(at, info)
  local buf, tick = vim.api.nvim_get_current_buf(), vim.b.changedtick
  require('acp.context.choices').find(info.cwd, at.query, function(choices)
    -- It may have taken a while.
    local same = vim.api.nvim_get_current_buf() == buf and vim.b[buf].changedtick == tick
    if same and vim.fn.mode() == 'i' and not M.chosen() then
      show(at, vim.tbl_map(mention_item, choices))
    end
  end, function()
    M.refresh(buf)
  end)
end

--- Whether the user has chosen something in the menu.
---@return boolean
function M.chosen()
  return vim.fn.pumvisible() == 1 and vim.fn.complete_info({ 'selected' }).selected >= 0
end

--- Shows what fits what was typed.
local function update()
  local at, info = place(), here()
  asked = at and vim.b.changedtick
  if not at or not info then
    return
  elseif at.kind == 'mention' then
    return show_mentions(at, info)
  end
  local items = at.kind == 'command' and command_items(info, at.query) or past_items(info, at.query)
  show(at, items)
end

--- Whether something else opens the menu in this buffer.
---@return boolean
local function served()
  local mini = _G.MiniCompletion ~= nil and not vim.b.minicompletion_disable
  local blink = package.loaded['blink.cmp'] ~= nil and vim.b.completion ~= false
  local native = vim.fn.exists('&autocomplete') == 1 and vim.o.autocomplete
  return mini or blink or native or package.loaded['cmp'] ~= nil
end

---@return boolean
local function automatic()
  return require('acp.config').get().prompt.complete == 'auto' and not served()
end

--- Shows the menu again: there may be more to show in it by now.
---@param buf integer
function M.refresh(buf)
  local current = vim.api.nvim_get_current_buf() == buf and vim.b.changedtick == asked
  if current and vim.fn.mode() == 'i' and automatic() and not M.chosen() then
    update()
  end
end

--- The text has changed, the menu being open or not.
local function changed()
  local was_typed = typed
  typed = false
  if M.chosen() then
    return
  elseif in_past or (automatic() and (was_typed or vim.fn.pumvisible() == 1)) then
    update()
  end
end

--- A past prompt was chosen by the first words of it: now comes all of it.
---@param word string
---@param whole string
local function expand(word, whole)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local line = vim.api.nvim_get_current_line()
  if word == whole or not vim.startswith(line, word) then
    return
  end
  local lines = vim.split(whole, '\n', { plain = true })
  lines[#lines] = lines[#lines] .. line:sub(#word + 1)
  vim.api.nvim_buf_set_lines(0, row - 1, row, false, lines)
  local last = row + #lines - 1
  vim.api.nvim_win_set_cursor(0, { last, #lines[#lines] - #line + #word })
end

local function done()
  if opening then
    return
  end
  -- A blank closes the menu too; then it opens again before this is called.
  require('acp.client').defer(function()
    in_past = in_past and vim.fn.pumvisible() == 1
  end)
  local item = vim.v.completed_item
  local data = type(item.user_data) == 'string' and item.user_data or ''
  local whole = past[tonumber(data:match('^acp%.history (%d+)$')) or 0]
  if whole then
    in_past = false
    expand(item.word or '', whole)
  end
end

--- Shows past prompts that have the words before the cursor in them.
function M.search()
  if vim.fn.mode() ~= 'i' then
    -- Here the words would be in the way of nothing: a list does as well.
    return vim.cmd('Acp history')
  end
  in_past = true
  update()
  in_past = vim.fn.pumvisible() == 1
  if not in_past then
    require('acp.notify').show('no past prompt has these words')
  end
end

--- What a key that sends types: an open menu goes first, with what was chosen in it.
---@return string
function M.key_send()
  local menu = vim.fn.pumvisible() == 1 and (M.chosen() and '<C-y>' or '<C-e>') or ''
  return menu .. "<Cmd>lua require('acp.ui.keymaps').run('send')<CR>"
end

--- 'omnifunc' of prompt buffers.
---@param findstart 0|1
---@param base string
---@return integer|table[]
function M.omni(findstart, base)
  local at, info = place(), here()
  if findstart == 1 then
    return at and info and at.start or -3
  elseif not info then
    return {}
  elseif vim.startswith(base, '/') then
    return command_items(info, base:sub(2))
  end
  local query = base:gsub('^@"?', '')
  return vim.tbl_map(mention_item, require('acp.context.choices').find_now(info.cwd, query))
end

---@return string 'completeopt' for the prompt, near to what the user has
local function options()
  local list = vim.tbl_filter(function(word)
    return vim.list_contains({ 'noinsert', 'noselect', 'popup' }, word)
  end, vim.split(vim.go.completeopt, ',', { trimempty = true }))
  local careful = vim.list_contains(list, 'noinsert') or vim.list_contains(list, 'noselect')
  return table.concat(vim.list_extend({ 'menuone', not careful and 'noselect' or nil }, list), ',')
end

--- Completes in a prompt buffer.
---@param buf integer
function M.attach(buf)
  vim.bo[buf].omnifunc = "v:lua.require'acp.ui.prompt.complete'.omni"
  if vim.fn.has('nvim-0.11') == 1 then
    vim.bo[buf].completeopt = options()
  end
  if vim.fn.exists('&autocomplete') == 1 then
    -- So that it is found by that option too, where the user has set it.
    vim.bo[buf].complete = 'o,' .. vim.o.complete
  end
  local on = require('acp.autocmd').on
  on('InsertCharPre', 'acp: complete only what is typed', function()
    typed = true
  end, buf)
  on({ 'TextChangedI', 'TextChangedP' }, 'acp: complete in the prompt', changed, buf)
  on('CompleteDone', 'acp: put a past prompt in whole', done, buf)
  on('InsertLeave', 'acp: end the completion', function()
    in_past, typed = false, false
  end, buf)
end

return M
