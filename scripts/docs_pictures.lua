--- The pictures of the README, made from the real thing: Neovim in xterm, on a screen that nobody
--- sees, with an agent that plays scripts/docs_pictures.json. Run by scripts/docs.sh:
---     nvim -l docs_pictures.lua {root of the project} {the Neovim to show} {a scratch folder}

local root, nvim, scratch = assert(arg[1]), assert(arg[2]), assert(arg[3])

--- Milliseconds that anything on the screen may take.
local patience = 30000

local colours = {
  dark = { text = '#e0e2ea', ground = '#14161b' },
  light = { text = '#14161b', ground = '#e0e2ea' },
}

local code = [[
local M = {}

--- Makes a title fit for an address.
function M.slug(title)
  local text = title:lower()
  text = text:gsub('%s+', '-')
  return text:gsub('[^%w-]', '')
end

return M
]]

local page = [[
local slug = require('slug').slug
return function(page)
  return '/' .. slug(page.title)
end
]]

---@param path string
---@param text string
local function write(path, text)
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  local file = assert(io.open(path, 'w'))
  file:write(text)
  file:close()
end

---@param what string
---@param condition fun(): any
local function wait(what, condition)
  if not vim.wait(patience, condition, 20) then
    error(('%s: not after %d s'):format(what, patience / 1000))
  end
end

--- A screen that nobody sees.
---@return string display
local function open_screen()
  local number = ''
  local server = vim.system({ 'Xvfb', '-displayfd', '1', '-screen', '0', '2000x1400x24' }, {
    stdout = function(_, data)
      number = number .. (data or '')
    end,
  })
  wait('Xvfb', function()
    return number:find('\n')
  end)
  vim.api.nvim_create_autocmd('VimLeavePre', {
    callback = function()
      server:kill('sigterm')
    end,
  })
  return ':' .. vim.trim(number)
end

---@class acp.Shot
---@field name string
---@field background 'dark'|'light'
---@field size string columns and rows, such as "120x36"
---@field width number of the chat

---@class acp.Stage
---@field project string
---@field display string
---@field channel integer
---@field terminal vim.SystemObj
---@field name string

--- A project as it was before the agent came.
---@return string
local function make_project()
  local project = vim.fs.joinpath(scratch, 'site')
  vim.fn.delete(project, 'rf')
  write(project .. '/lua/slug.lua', code)
  write(project .. '/lua/page.lua', page)
  vim.fn.mkdir(project .. '/.git', 'p')
  return project
end

---@param shot acp.Shot
---@return string lua what Neovim begins with
local function config(shot)
  local opts = {
    agents = {
      demo = { command = { root .. '/lib/acp-tutor', root .. '/scripts/docs_pictures.json' } },
    },
    chat = { width = shot.width },
  }
  local lines = {
    ('vim.opt.runtimepath:prepend(%q)'):format(root),
    ('vim.o.background = %q'):format(shot.background),
    'vim.o.termguicolors = true',
    ('vim.g.acp = %s'):format(vim.inspect(opts)),
  }
  return table.concat(lines, '\n')
end

--- Neovim with the chat in a terminal.
---@param shot acp.Shot
---@param display string
---@return acp.Stage
local function open(shot, display)
  local home, project = vim.fs.joinpath(scratch, shot.name), make_project()
  local init, socket = home .. '/init.lua', home .. '/socket'
  write(init, config(shot))
  local env = { DISPLAY = display, COLORTERM = 'truecolor' }
  for _, kind in ipairs({ 'CONFIG', 'DATA', 'STATE', 'CACHE' }) do
    env[('XDG_%s_HOME'):format(kind)] = vim.fs.joinpath(home, kind:lower())
  end
  local colour = colours[shot.background]
  local command = vim.split('xterm +sb -b 10 -fs 13 -tn xterm-256color', ' ')
  vim.list_extend(command, { '-geometry', shot.size, '-fa', 'JetBrains Mono' })
  vim.list_extend(command, { '-fg', colour.text, '-bg', colour.ground })
  vim.list_extend(command, { '-e', nvim, '--clean', '-u', init })
  vim.list_extend(command, { '--listen', socket, 'lua/slug.lua' })
  local terminal = vim.system(command, { cwd = project, env = env })
  wait('Neovim', function()
    return vim.uv.fs_stat(socket) ~= nil
  end)
  local channel = vim.fn.sockconnect('pipe', socket, { rpc = true })
  return {
    project = project,
    display = display,
    channel = channel,
    terminal = terminal,
    name = shot.name,
  }
end

---@param stage acp.Stage
---@param keys string
local function type_keys(stage, keys)
  vim.rpcrequest(stage.channel, 'nvim_input', keys)
end

---@param stage acp.Stage
---@return string
local function screen(stage)
  local read = [[
    local rows = {}
    for row = 1, vim.o.lines do
      local cells = {}
      for col = 1, vim.o.columns do
        cells[col] = vim.fn.screenstring(row, col)
      end
      rows[row] = table.concat(cells)
    end
    return table.concat(rows, '\n')
  ]]
  local text = vim.rpcrequest(stage.channel, 'nvim_exec_lua', read, {}) ---@type any
  return text
end

---@param stage acp.Stage
---@param text string
local function wait_text(stage, text)
  wait(('%s: "%s"'):format(stage.name, text), function()
    return screen(stage):find(text, 1, true)
  end)
end

--- Lets the agent go on.
---@param stage acp.Stage
---@param word string
local function go_on(stage, word)
  write(vim.fs.joinpath(stage.project, '.git', word), '')
end

---@param stage acp.Stage
local function take(stage)
  -- Colours of code come a moment after the code.
  vim.wait(700)
  local path = ('%s/doc/images/%s.png'):format(root, stage.name)
  local command = vim.split('import -window root -trim +repage +dither -colors 128 -strip', ' ')
  local taken = vim.system(vim.list_extend(command, { '-display', stage.display, path })):wait()
  assert(taken.code == 0, taken.stderr)
  io.stdout:write(path, '\n')
end

---@param stage acp.Stage
local function close(stage)
  pcall(vim.rpcrequest, stage.channel, 'nvim_command', 'qa!')
  stage.terminal:wait(patience)
end

---@param stage acp.Stage
local function ask(stage)
  type_keys(stage, ':AcpChat demo<CR>')
  wait_text(stage, 'Ask demo')
  type_keys(stage, 'Umlauts get lost in @lua/slug.lua<C-s>')
  wait_text(stage, 'Edit lua/slug.lua +')
end

--- Lets the agent change files, and goes to the second change.
---@param stage acp.Stage
local function change(stage)
  type_keys(stage, ':AcpChat demo<CR>')
  wait_text(stage, 'Ask demo')
  type_keys(stage, 'Spell umlauts out in @lua/slug.lua<C-s>')
  wait_text(stage, '4 to review')
  type_keys(stage, '<Esc><C-w>hgg]g]g')
  wait_text(stage, 'gla accept')
end

---@type table<string, fun(stage: acp.Stage)>
local scenes = {
  review = change,
  changes = function(stage)
    change(stage)
    type_keys(stage, ':Acp changes<CR>')
    wait_text(stage, 'a accept')
  end,
  chat = function(stage)
    ask(stage)
    go_on(stage, 'ask')
    wait_text(stage, 'Reject with a reason')
    wait_text(stage, 'chooses')
    type_keys(stage, 'a')
    wait_text(stage, 'make test')
    type_keys(stage, '<Esc><C-w>k')
    wait_text(stage, 'make test')
    vim.rpcrequest(stage.channel, 'nvim_command', 'call search("explore:")')
    type_keys(stage, 'zo')
    wait_text(stage, 'grep slug')
    type_keys(stage, 'G')
    wait_text(stage, 'make test · 3s')
  end,
  permission = function(stage)
    ask(stage)
    go_on(stage, 'ask')
    wait_text(stage, 'chooses')
  end,
  diff = function(stage)
    ask(stage)
    type_keys(stage, '<Esc><C-w>kG<CR>')
    wait_text(stage, 's one column')
    type_keys(stage, ']c]c]c')
  end,
}

---@type acp.Shot[]
local shots = {
  { name = 'chat-dark', background = 'dark', size = '122x40', width = 72 },
  { name = 'chat-light', background = 'light', size = '122x40', width = 72 },
  { name = 'diff', background = 'dark', size = '150x30', width = 72 },
  { name = 'review', background = 'dark', size = '136x24', width = 46 },
  { name = 'changes', background = 'dark', size = '136x24', width = 46 },
  { name = 'permission', background = 'dark', size = '122x40', width = 72 },
}

local display = open_screen()
for _, shot in ipairs(shots) do
  local stage = open(shot, display)
  scenes[shot.name:match('^%a+')](stage)
  take(stage)
  close(stage)
end
