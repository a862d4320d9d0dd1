--- Highlights of code, from Neovim's tree-sitter: only for languages whose parser and query are
--- there, only for the lines it is given, and only for as long as there is time. Knows nothing of
--- buffers or windows.

local M = {}

--- How many rows are looked at in one go, and how many bytes of a row. Beyond that a row is data,
--- not something that people read.
local chunk, widest = 8, 1000
--- How many pieces of code are remembered, at least.
local remembered = 12

--- A piece of code. `rows` has, by row from 0, a flat list of col, end_col, group, priority.
---@class (exact) acp.Piece
---@field lang string
---@field text string
---@field tree? TSTree
---@field rows table<integer, integer[]>
---@field looked table<integer, true> chunks whose rows are known
---@field broken? boolean

--- Words that people write at fences and that are no filetype.
---@type table<string, string>
local aliases = {
  ['c++'] = 'cpp',
  console = 'bash',
  golang = 'go',
  node = 'javascript',
  shell = 'bash',
  viml = 'vim',
  vimscript = 'vim',
  zsh = 'bash',
}

---@type table<string, string|false> language by the word or file name that names it
local languages = {}
---@type table<string, table<integer, integer|false>> group of each capture, by language
local groups = {}
---@type table<string, table<string, acp.Piece>> by language and text
local young, old = {}, {}
local count = 0

---@param name string
---@return string? filetype
local function filetype_of(name)
  local ok, filetype = pcall(vim.filetype.match, { filename = name })
  return ok and filetype or nil
end

---@param filetype string?
---@return string? lang whose parser and query are there
local function installed(filetype)
  local lang = filetype and filetype ~= '' and vim.treesitter.language.get_lang(filetype)
    or filetype
  -- The name comes from an agent and becomes part of a path.
  if not lang or not lang:match('^[%w_]+$') then
    return nil
  end
  lang = lang:lower()
  local loaded = pcall(vim.treesitter.language.inspect, lang)
  local ok, query = pcall(vim.treesitter.query.get, lang, 'highlights')
  return loaded and ok and query and lang or nil
end

--- The language of a fence's first word or of a file, false when it has none; nil while nobody
--- has looked.
---@param name string
---@return string|false|nil
function M.known(name)
  return languages[name]
end

--- Finds the language of a fence's first word or of a file. Parser and query are loaded for that,
--- which takes some 10 ms the first time.
---@param name string
---@return string?
function M.learn(name)
  if languages[name] == nil then
    local base = vim.fs.basename(name)
    local lang = nil
    if base ~= '' and #base <= 100 then
      lang = installed(aliases[base:lower()] or base)
        or installed(filetype_of(base))
        or installed(filetype_of('x.' .. base))
    end
    languages[name] = lang or false
  end
  return languages[name] or nil
end

--- Forgets which languages there are: a parser may have been installed meanwhile.
function M.forget()
  languages, groups, young, old, count = {}, {}, {}, {}, 0
end

---@param cache table<string, table<string, acp.Piece>>
---@param lang string
---@param text string
---@return acp.Piece?
local function look_up(cache, lang, text)
  local of_lang = cache[lang]
  return of_lang and of_lang[text]
end

--- A piece of code to ask for its rows. The same text is the same piece, for as long as it is
--- asked for now and then.
---@param lang string
---@param text string
---@return acp.Piece
function M.piece(lang, text)
  local code = look_up(young, lang, text)
  if code then
    return code
  end
  code = look_up(old, lang, text) or { lang = lang, text = text, rows = {}, looked = {} }
  if count >= remembered then
    old, young, count = young, {}, 0
  end
  young[lang] = young[lang] or {}
  young[lang][text] = code
  count = count + 1
  return code
end

---@param query vim.treesitter.Query
---@param lang string
---@param capture integer
---@return integer|false
local function group_of(query, lang, capture)
  local known = groups[lang] or {}
  groups[lang] = known
  if known[capture] == nil then
    local name = query.captures[capture] or '_'
    local looks = not name:match('^_')
      and not vim.list_contains({ 'spell', 'nospell', 'none' }, name)
    known[capture] = looks and vim.api.nvim_get_hl_id_by_name(('@%s.%s'):format(name, lang))
      or false
  end
  return known[capture] --[[@as integer|false]]
end

--- Adds a mark to a row. One that lies exactly over the last one takes its place.
---@param code acp.Piece
---@param row integer
---@param mark { [1]: integer, [2]: integer, [3]: integer, [4]: integer }
local function add(code, row, mark)
  local marks = code.rows[row]
  if not marks then
    marks = {}
    code.rows[row] = marks
  end
  local at = #marks
  if at > 0 and marks[at - 3] == mark[1] and marks[at - 2] == mark[2] and mark[4] >= marks[at] then
    at = at - 4
  end
  marks[at + 1], marks[at + 2], marks[at + 3], marks[at + 4] = mark[1], mark[2], mark[3], mark[4]
end

---@param code acp.Piece
---@param range table<integer, integer> first row, col, last row, end col
---@param within { [1]: integer, [2]: integer } rows of interest, end exclusive
---@param group integer
---@param priority integer
local function spread(code, range, within, group, priority)
  local first, last = math.max(range[1], within[1]), math.min(range[3], within[2] - 1)
  for row = first, last do
    local from = row == range[1] and range[2] or 0
    local to = row == range[3] and range[4] or widest
    if to > from and from < widest then
      add(code, row, { from, to, group, priority })
    end
  end
end

---@param node TSNode
---@param given Range? where the query has put it: four numbers, or six with offsets in bytes
---@return table<integer, integer>
local function range_of(node, given)
  if given and #given == 6 then
    return { given[1], given[2], given[4], given[5] }
  end
  return given or { node:range() }
end

---@param code acp.Piece
local function parse(code)
  -- Without a range nothing of another language inside is parsed.
  local trees = vim.treesitter.get_string_parser(code.text, code.lang):parse()
  code.tree = assert(trees and trees[1])
end

---@param code acp.Piece
---@param number integer which chunk
local function look(code, number)
  local query = assert(vim.treesitter.query.get(code.lang, 'highlights'))
  local within = { number * chunk, (number + 1) * chunk }
  local root = assert(code.tree):root()
  for id, node, metadata in query:iter_captures(root, code.text, within[1], within[2]) do
    local group = group_of(query, code.lang, id)
    if group then
      local own = metadata[id]
      local priority = math.floor(tonumber(metadata.priority or own and own.priority) or 100)
      spread(code, range_of(node, own and own.range), within, group, priority)
    end
  end
  code.looked[number] = true
end

local none = {}

--- The marks of a row, nil when they are not known and `may_look` says that there is no time.
---@param code acp.Piece
---@param row integer from 0
---@param may_look fun(): boolean
---@return table<integer, integer>?
function M.row(code, row, may_look)
  local number = math.floor(row / chunk)
  if code.looked[number] or code.broken then
    return code.rows[row] or none
  end
  -- Queries that do not fit their parser are common, and no reason to complain here.
  if not code.tree and may_look() then
    code.broken = not pcall(parse, code)
  end
  if code.tree and may_look() then
    code.broken = not pcall(look, code, number)
    return code.rows[row] or none
  end
  return code.broken and none or nil
end

return M
