--- A user and an agent at the same files, by the dice: see files_random.rs. Runs in the Neovim
--- that is tested, so that a thousand sequences take seconds. Every word has a name of its own:
--- `u…` the user's, `a…` the agent's, `b…` what was there before.

local options = ...
local acp = require('acp')
local apply = require('acp.files.apply')
local conflict = require('acp.files.conflict')
local job = require('acp.files.job')
local watch = require('acp.files.watch')

local ns = vim.api.nvim_create_namespace('files_random')
local offered, undone, words_made = 0, 0, 0
--- How long anything may take, in milliseconds: a busy disk takes its time.
local patience = 30000
local by_buf = {} ---@type table<integer, table>
local failure ---@type string?

local state = options.seed
---@param sides integer
---@return integer from 0
local function roll(sides)
  state = bit.bxor(state, bit.lshift(state, 13))
  state = bit.bxor(state, bit.rshift(state, 17))
  state = bit.bxor(state, bit.lshift(state, 5))
  return state % sides
end

local function lines_of(buf)
  return vim.api.nvim_buf_get_lines(buf, 0, -1, true)
end

local function words_of(text)
  local all = {}
  for word in text:gmatch('[uab]%d+') do
    all[word] = true
  end
  return all
end

local function joined(lines)
  return table.concat(lines, '\n') .. '\n'
end

local function disk_of(file)
  local handle = assert(io.open(file.path, 'rb'))
  local text = handle:read('*a')
  handle:close()
  return text
end

local function note(file, ...)
  table.insert(file.log, table.concat(vim.tbl_map(tostring, { ... }), ' '))
end

local function fail(file, what, ...)
  if not failure then
    local more = vim.tbl_map(vim.inspect, { ... })
    local parts = { ('sequence %d: %s'):format(file.number, what) }
    vim.list_extend(parts, file.log)
    vim.list_extend(parts, more)
    failure = table.concat(parts, '\n')
  end
end

local function new_word(who)
  words_made = words_made + 1
  return who .. words_made
end

--- What the user had in the file, where nobody but an agent has changed it since.
local function remember(file)
  file.mine = words_of(joined(lines_of(file.buf)))
end

-- Conflicts are settled at once, in one way or another.
conflict.ask = function(it, plan, _, chosen)
  local file = by_buf[it.buf]
  offered = offered + #plan.clashes
  file.settled = file.settled or {}
  local picks = {}
  local kept = nil
  for i, clash in ipairs(plan.clashes) do
    local pick = ({ 'theirs', 'ours', 'both' })[roll(3) + 1]
    picks[i] = pick
    kept = kept or pick == 'ours'
    table.insert(file.settled, { clash = clash, pick = pick })
    note(file, 'settled', pick, vim.inspect(clash.ours), vim.inspect(clash.theirs))
  end
  local function go_on()
    conflict.settle(it, plan, picks, chosen)
  end
  if roll(2) == 0 then
    vim.schedule(go_on)
  else
    vim.defer_fn(go_on, roll(5))
  end
end

--- Which words may go, and which may come, because the user said so.
local function permitted(file)
  local go, come = {}, {}
  for _, it in ipairs(file.settled or {}) do
    if it.pick ~= 'ours' then
      come = vim.tbl_extend('keep', come, words_of(joined(it.clash.theirs)))
    end
    if it.pick == 'theirs' then
      go = vim.tbl_extend('keep', go, words_of(joined(it.clash.ours)))
    end
  end
  return go, come
end

local function check_words(file, before, after)
  local go, come = permitted(file)
  local old, new = words_of(joined(before)), words_of(joined(after))
  for word in pairs(old) do
    if word:match('^u') and not new[word] and not go[word] then
      fail(file, word .. ' of the user is lost', before, after)
    end
  end
  for word in pairs(new) do
    if not old[word] and not word:match('^a') and not come[word] then
      fail(file, word .. ' has come back', before, after)
    end
  end
end

--- Marks and extmarks on all lines, and where the cursor is.
local function place_marks(file, before)
  local marks = { letters = {}, ids = {} }
  vim.api.nvim_buf_clear_namespace(file.buf, ns, 0, -1)
  for row = 0, #before - 1 do
    marks.ids[row] = vim.api.nvim_buf_set_extmark(file.buf, ns, row, 0, {})
  end
  for letter in ('abcde'):gmatch('.') do
    local row = roll(#before)
    marks.letters[letter] = row
    vim.api.nvim_buf_set_mark(file.buf, letter, row + 1, 0, {})
  end
  if vim.api.nvim_get_current_buf() == file.buf then
    marks.cursor = before[vim.api.nvim_win_get_cursor(0)[1]]
  end
  return marks
end

--- Which line each text is in now; nothing for those that are or were there twice, as when both
--- sides are kept, nor for those that were given up: nobody can tell which is which.
local function lines_now(file, before, after)
  local now, were = {}, {}
  for row, line in ipairs(after) do
    now[line] = now[line] == nil and row
  end
  for _, line in ipairs(before) do
    now[line] = not were[line] and now[line]
    were[line] = true
  end
  for _, it in ipairs(file.settled or {}) do
    for _, line in ipairs(it.pick ~= 'ours' and it.clash.ours or {}) do
      now[line] = false
    end
  end
  return now
end

local function check_marks(file, marks, before, after, plan)
  local now, touched = lines_now(file, before, after), {}
  for _, change in ipairs(plan.changes) do
    if change.text then
      touched[change.first] = true
    end
  end
  for row, id in pairs(marks.ids) do
    local at = vim.api.nvim_buf_get_extmark_by_id(file.buf, ns, id, {})[1]
    local wanted = now[before[row + 1]]
    if wanted and at ~= wanted - 1 then
      fail(file, ('the extmark of row %d is at %s'):format(row, at), before, after, plan.changes)
    end
  end
  for letter, row in pairs(marks.letters) do
    local at = vim.api.nvim_buf_get_mark(file.buf, letter)[1]
    local wanted = now[before[row + 1]]
    local extmark = vim.api.nvim_buf_get_extmark_by_id(file.buf, ns, marks.ids[row], {})[1]
    if touched[row] then
      wanted = extmark + 1
    end
    if wanted and at ~= wanted then
      fail(file, ('the mark of row %d is at line %s'):format(row, at), before, after, plan.changes)
    end
  end
  if marks.cursor and now[marks.cursor] then
    local line = after[vim.api.nvim_win_get_cursor(0)[1]]
    if line ~= marks.cursor then
      fail(file, ('the cursor was on %q, is on %q'):format(marks.cursor, line), plan.changes)
    end
  end
end

local make = apply.apply
apply.apply = function(buf, plan, ...)
  local file = by_buf[buf]
  local before = lines_of(buf)
  local marks = file and place_marks(file, before)
  local result = make(buf, plan, ...)
  if not file or result ~= 'done' then
    return result
  end
  local after = lines_of(buf)
  note(file, 'applied', plan.stamp and 'disk' or 'write', vim.inspect(after))
  check_words(file, before, after)
  check_marks(file, marks, before, after, plan)
  file.settled = nil
  if #plan.changes > 0 then
    file.before, file.after = before, after
    file.tick = vim.api.nvim_buf_get_changedtick(buf)
  end
  remember(file)
  return result
end

---@type table<string, fun(file: table, row: integer, line: string)>
local steps = {
  insert = function(file, row)
    vim.api.nvim_buf_set_lines(file.buf, row, row, true, { new_word('u') })
  end,
  open = function(_, row)
    vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
    vim.cmd('normal! o' .. new_word('u'))
  end,
  change = function(file, row, line)
    local col = roll(2) == 0 and 0 or #line
    local word = new_word('u')
    vim.api.nvim_buf_set_text(
      file.buf,
      row,
      col,
      row,
      col,
      { col == 0 and word .. ' ' or ' ' .. word }
    )
  end,
  delete = function(file, row)
    if vim.api.nvim_buf_line_count(file.buf) > 3 then
      vim.api.nvim_buf_set_lines(file.buf, row, row + 1, true, {})
    end
  end,
  save = function()
    vim.cmd('silent write!')
  end,
  undo = function()
    vim.cmd('silent undo')
  end,
  redo = function()
    vim.cmd('silent redo')
  end,
}
local kinds = { 'insert', 'insert', 'open', 'change', 'change', 'delete', 'save', 'undo', 'redo' }

--- Nothing of the user's has gone since the user last did something.
local function check_kept(file)
  local now = words_of(joined(lines_of(file.buf)))
  for word in pairs(file.mine) do
    if word:match('^u') and not now[word] then
      fail(file, word .. ' of the user has gone', lines_of(file.buf))
    end
  end
end

local function user_step(file)
  check_kept(file)
  vim.api.nvim_win_set_buf(0, file.buf)
  local row = roll(vim.api.nvim_buf_line_count(file.buf))
  local kind = kinds[roll(#kinds) + 1]
  steps[kind](file, row, vim.api.nvim_buf_get_lines(file.buf, row, row + 1, true)[1])
  -- What is done next is another step to undo.
  vim.bo.undolevels = vim.bo.undolevels
  vim.api.nvim_win_set_cursor(0, { roll(vim.api.nvim_buf_line_count(file.buf)) + 1, 0 })
  note(file, 'user', kind, row, vim.inspect(lines_of(file.buf)))
  file.stepped = true
  remember(file)
end

--- What an agent makes of a text that it knows: it leaves alone what the user wrote.
local function revised(known)
  local lines = vim.split(known, '\n')
  table.remove(lines)
  local made = {}
  for _ = 0, roll(3) do
    local at = roll(#lines + 1) + 1
    local line = lines[at]
    local how = roll(4)
    local word = new_word('a')
    if how == 0 or not line then
      table.insert(lines, at, word)
      made[word] = true
    elseif not line:match('u%d') and how == 1 then
      lines[at] = word
      made[word] = true
    elseif not line:match('u%d') and how == 2 then
      lines[at] = line .. ' ' .. word
      made[word] = true
    elseif not line:match('u%d') and #lines > 3 then
      table.remove(lines, at)
    end
  end
  if joined(lines) == known then
    local word = new_word('a')
    table.insert(lines, word)
    made[word] = true
  end
  -- A later change may have taken an earlier one back.
  local text = joined(lines)
  local words = words_of(text)
  for word in pairs(made) do
    made[word] = words[word]
  end
  return text, made
end

local routine ---@type thread
local function go_on(...)
  local ok, err = coroutine.resume(routine, ...)
  if not ok then
    vim.rpcnotify(1, 'files_random', debug.traceback(routine, err))
  end
end

local function pause(ms)
  vim.defer_fn(go_on, ms)
  coroutine.yield()
end

--- Lets the agent work; in a hurry, the user goes on meanwhile.
local function turn(blocks, files)
  local over, err = false, nil
  assert(acp.prompt(
    vim.tbl_map(function(text)
      return { type = 'text', text = text }
    end, blocks),
    {
      on_done = function(failed)
        over, err = true, failed
      end,
    }
  ))
  local begun = vim.uv.now()
  while not over do
    if files and options.hurry and roll(3) == 0 then
      user_step(files[roll(#files) + 1])
    end
    pause(1)
    if vim.uv.now() - begun > patience then
      fail(files and files[1] or { number = 0, log = {} }, 'the turn does not end')
      return
    end
  end
  assert(not err, vim.inspect(err))
end

local function wait_quiet(files)
  local begun = vim.uv.now()
  for _, file in ipairs(files) do
    while job.busy(file.buf) or watch.is_behind(file.buf) do
      pause(1)
      if vim.uv.now() - begun > patience then
        fail(
          file,
          'the buffer does not come to rest',
          job.busy(file.buf),
          watch.is_behind(file.buf)
        )
        return
      end
    end
  end
end

local function open(number)
  local file = { number = number, log = {}, path = ('%s/f%d.txt'):format(options.folder, number) }
  local lines = {}
  for _ = 1, 6 + roll(12) do
    table.insert(lines, new_word('b'))
  end
  local handle = assert(io.open(file.path, 'wb'))
  handle:write(joined(lines))
  handle:close()
  vim.cmd('silent edit ' .. file.path)
  file.buf = vim.api.nvim_get_current_buf()
  file.known = joined(lines)
  by_buf[file.buf] = file
  remember(file)
  return file
end

--- One undo takes back what the agent did, and nothing else.
local function check_undo(file)
  if file.tick ~= vim.api.nvim_buf_get_changedtick(file.buf) or roll(2) == 0 then
    return
  end
  undone = undone + 1
  vim.api.nvim_win_set_buf(0, file.buf)
  vim.cmd('silent undo')
  if not vim.deep_equal(lines_of(file.buf), file.before) then
    fail(file, 'an undo brings another text', lines_of(file.buf), file.before)
  end
  -- Neovim tells of it when it has a moment.
  local begun = vim.uv.now()
  while joined(lines_of(file.buf)) ~= disk_of(file) and not vim.bo[file.buf].modified do
    pause(1)
    if vim.uv.now() - begun > patience then
      fail(file, 'after an undo the buffer is not modified')
      return
    end
  end
  if roll(3) > 0 then
    vim.cmd('silent redo')
    if not vim.deep_equal(lines_of(file.buf), file.after) then
      fail(file, 'a redo brings another text', lines_of(file.buf), file.after)
    end
  end
  note(file, 'undo and redo')
  remember(file)
end

local function check_rest(file)
  -- A save and a write of the agent at the same moment are told apart a moment later.
  local begun = vim.uv.now()
  while not vim.bo[file.buf].modified and joined(lines_of(file.buf)) ~= disk_of(file) do
    pause(5)
    if vim.uv.now() - begun > patience then
      fail(file, 'the buffer is not modified, but not what the disk has', disk_of(file))
      return
    end
  end
  check_kept(file)
  local text = joined(lines_of(file.buf))
  local words = words_of(text)
  for word in pairs(file.made) do
    if not file.stepped and not file.clashed and not words[word] then
      fail(file, word .. ' of the agent is missing', text)
    end
  end
  if options.save and file.how == 'write' and not file.stepped and not file.clashed then
    if vim.bo[file.buf].modified then
      fail(file, 'the write was not saved')
    end
  end
end

local function round(files)
  local reads = {}
  for _, file in ipairs(files) do
    for _ = 1, roll(4) do
      user_step(file)
    end
    if roll(4) == 0 then
      vim.list_extend(reads, { 'read', file.path, '' })
      file.known = vim.bo[file.buf].modified and joined(lines_of(file.buf)) or disk_of(file)
      note(file, 'read')
    end
  end
  if #reads > 0 then
    turn(reads)
  end
  local blocks = {}
  for _, file in ipairs(files) do
    file.stepped, file.how = false, roll(2) == 0 and 'disk' or 'write'
    local text, made = revised(file.how == 'disk' and disk_of(file) or file.known)
    file.made = made
    if file.how == 'write' then
      file.known = text
    end
    note(file, 'agent', file.how, vim.inspect(text))
    vim.list_extend(blocks, { file.how, file.path, text })
  end
  local before = offered
  turn(blocks, files)
  wait_quiet(files)
  for _, file in ipairs(files) do
    file.clashed = offered > before
    check_rest(file)
    check_undo(file)
  end
end

local function batch(from, to)
  local files, reads = {}, {}
  for number = from, to do
    local file = open(number)
    table.insert(files, file)
    vim.list_extend(reads, { 'read', file.path, '' })
  end
  turn(reads)
  for _ = 1, 3 do
    round(files)
    if failure then
      return
    end
  end
  for _, file in ipairs(files) do
    by_buf[file.buf] = nil
    vim.api.nvim_buf_delete(file.buf, { force = true })
    os.remove(file.path)
  end
end

routine = coroutine.create(function()
  local number = 0
  while number < options.count and not failure do
    local to = math.min(number + options.batch, options.count)
    batch(number + 1, to)
    number = to
  end
  vim.rpcnotify(1, 'files_random', failure or vim.NIL, { number, offered, undone })
end)
vim.schedule(go_on)
