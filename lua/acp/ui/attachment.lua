--- What came with a message and is not text: saved to a file, opened by the system, after asking.

local client = require('acp.client')
local notify = require('acp.notify')
local text = require('acp.text')

local M = {}

---@type table<integer, fun(err: acp.Err?)> by tag
local waiting = {}

--- The system chooses a program by the end of a name: only these are ever made.
---@type table<string, string>
local endings = {
  ['image/png'] = 'png',
  ['image/jpeg'] = 'jpg',
  ['image/gif'] = 'gif',
  ['image/webp'] = 'webp',
  ['image/bmp'] = 'bmp',
  ['audio/wav'] = 'wav',
  ['audio/x-wav'] = 'wav',
  ['audio/mpeg'] = 'mp3',
  ['audio/mp3'] = 'mp3',
  ['audio/ogg'] = 'ogg',
  ['audio/flac'] = 'flac',
  ['application/pdf'] = 'pdf',
  ['application/json'] = 'json',
}

--- The row of an attachment says what it is.
---@param here acp.EntryHere
---@return string ending, string label
local function about(here)
  local line = vim.api.nvim_buf_get_lines(here.buf, here.row, here.row + 1, false)[1] or ''
  for mime in line:gmatch('[%w.+-]+/[%w.+-]+') do
    if endings[mime:lower()] then
      return endings[mime:lower()], text.one_line(vim.trim(line))
    end
  end
  return 'txt', text.one_line(vim.trim(line))
end

---@param here acp.EntryHere
---@param path string
---@param fn fun()
local function write(here, path, fn)
  local tag = require('acp.callbacks').next_tag()
  waiting[tag] = function(err)
    if err then
      notify.err(err)
    else
      fn()
    end
  end
  local ok, err = client.send({
    type = 'save',
    session = here.session,
    entry = here.entry,
    attachment = here.part,
    path = path,
    tag = tag,
  })
  if not ok then
    waiting[tag] = nil
    notify.err(err --[[@as acp.Err]])
  end
end

---@param path string
local function open_with_system(path)
  local ok, process, why = pcall(vim.ui.open, path)
  if not ok or not process then
    local reason = tostring(ok and why or process)
    notify.show(('%s could not be opened: %s'):format(path, text.one_line(reason)), 'error')
  end
end

--- Asks for a path and saves there. What exists is only replaced after another question.
---@param here acp.EntryHere
function M.save(here)
  local ending = about(here)
  local info = require('acp.session').info(here.session)
  local name = ('attachment-%d-%d.%s'):format(here.entry, here.part, ending)
  local default = vim.fs.joinpath(info and info.cwd or vim.fn.getcwd(), name)
  vim.ui.input({ prompt = 'Save to: ', default = default, completion = 'file' }, function(path)
    if not path or path == '' then
      return
    end
    path = vim.fn.fnamemodify(path, ':p')
    local exists = vim.uv.fs_stat(path)
    if exists and exists.type == 'directory' then
      return notify.show(('%s is a folder'):format(path), 'warn')
    elseif exists and vim.fn.confirm(('Replace %s?'):format(path), '&No\n&Yes', 1) ~= 2 then
      return
    end
    write(here, path, function()
      notify.show(('Saved to %s'):format(path))
    end)
  end)
end

--- Offers to open an attachment, or to save it.
---@param here acp.EntryHere
function M.open(here)
  local ending, label = about(here)
  ---@type { label: string, run?: fun() }[]
  local choices = {
    {
      label = 'Open it with the program of the system',
      run = function()
        local path = ('%s.%s'):format(vim.fn.tempname(), ending)
        write(here, path, function()
          open_with_system(path)
        end)
      end,
    },
    {
      label = 'Save it to a file',
      run = function()
        M.save(here)
      end,
    },
    { label = 'No' },
  }
  require('acp.ui.select').open(choices, {
    prompt = text.shorten(label, 60),
    kind = 'acp_attachment',
    question = true,
    format_item = function(choice)
      return choice.label
    end,
  }, function(choice)
    if choice and choice.run then
      choice.run()
    end
  end)
end

--- Starts listening to the core.
function M.attach()
  ---@param effect acp.Saved
  client.subscribe('saved', function(effect)
    local fn = waiting[effect.tag]
    waiting[effect.tag] = nil
    if fn then
      fn(effect.err)
    end
  end)
end

return M
