--- Pictures that are pasted or dropped into a prompt: a terminal hands over their path, which
--- becomes a mention.

local M = {}

---@param word string as a terminal writes it
---@return string
local function path_of(word)
  local quoted = word:match("^'(.*)'$") or word:match('^"(.*)"$')
  if quoted then
    return quoted
  elseif vim.startswith(word, 'file://') then
    local ok, path = pcall(vim.uri_to_fname, word)
    return ok and path or word
  end
  return (word:gsub('\\(.)', '%1'))
end

--- The mention for a pasted line, nil when it is not the path of a picture.
---@param line string
---@return string?
function M.mention(line)
  local path = path_of(vim.trim(line))
  local rooted = path:match('^[/~]') or path:match('^%a:[/\\]')
  if not rooted or not require('acp.context.blocks').image_type(path) then
    return nil
  end
  path = vim.fs.normalize(path, { expand_env = false })
  local stat = vim.uv.fs_stat(path)
  return stat and stat.type == 'file' and require('acp.context.mentions').write(path) or nil
end

local attached = false

--- Watches what is pasted into prompts from now on.
function M.attach()
  if attached then
    return
  end
  attached = true
  local paste = vim.paste
  -- This is the way Neovim offers to look at what is pasted.
  vim.paste = function(lines, phase) -- luacheck: ignore 122
    local short = phase == -1 and #lines <= 2 and (lines[2] or '') == ''
    local mention = short and vim.b.acp_role == 'prompt' and M.mention(lines[1] or '')
    return paste(mention and { mention .. ' ' } or lines, phase)
  end
end

return M
