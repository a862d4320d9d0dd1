--- Mentions as content blocks of the protocol: the text of a loaded buffer as it is now, a link to
--- anything else. Nothing is read from the disk on the main loop.

local sources = require('acp.context.sources')

local M = {}

--- Bytes that are sent as text; what is bigger is for the agent to look into.
local biggest_text = 1000000
--- Bytes of a picture.
local biggest_image = 10000000

---@type table<string, string>
local image_types = {
  png = 'image/png',
  jpg = 'image/jpeg',
  jpeg = 'image/jpeg',
  gif = 'image/gif',
  webp = 'image/webp',
}

--- The type of a picture, by the ending of its name.
---@param path string
---@return string?
function M.image_type(path)
  local ending = path:match('%.(%w+)$')
  return ending and image_types[ending:lower()]
end

---@param mention acp.FileMention
---@return table
local function link(mention)
  local name, range = vim.fs.basename(mention.path), mention.range
  if range then
    name = ('%s:%s'):format(name, sources.range(range.first, range.last))
  end
  return { type = 'resource_link', uri = vim.uri_from_fname(mention.path), name = name }
end

---@param attachment acp.Attachment
---@return table
local function resource(attachment)
  return { type = 'resource', resource = { uri = attachment.uri, text = attachment.text } }
end

--- Something that is in no file, for whoever can't take it as it is.
---@param attachment acp.Attachment
---@return table
local function quote(attachment)
  local lines = vim.split(attachment.text, '\n', { plain = true })
  local block = require('acp.context').fenced(attachment.label, attachment.lang or '', lines)
  return { type = 'text', text = table.concat(block, '\n') }
end

---@param buf integer
---@return boolean whether its text is short enough, and text
local function is_text(buf)
  local bytes = vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf))
  if bytes > biggest_text or vim.bo[buf].binary then
    return false
  end
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    -- This is how Neovim hands out a zero byte.
    if line:find('\n', 1, true) then
      return false
    end
  end
  return true
end

---@param buf integer
---@param uri string
---@param range? { first: integer, last: integer }
---@return table? block nil when the buffer holds something else than text
local function from_buffer(buf, uri, range)
  if not is_text(buf) then
    return nil
  end
  local text_of = require('acp.files').text_of
  if not range then
    return resource({ uri = uri, label = '', text = text_of(buf) })
  end
  local text = text_of(buf, range.first, range.last - range.first + 1)
  uri = ('%s#L%d-L%d'):format(uri, range.first, range.last)
  return resource({ uri = uri, label = '', text = text })
end

---@param mention acp.FileMention
---@param can acp.Capabilities?
---@return table
local function file(mention, can)
  local embedded = not can or can.embedded_context
  local buf = embedded and not mention.folder and require('acp.files').find(mention.path)
  if not buf then
    return link(mention)
  end
  return from_buffer(buf, vim.uri_from_fname(mention.path), mention.range) or link(mention)
end

---@param can acp.Capabilities?
---@return table?
local function buffer(can)
  local buf = require('acp.context.origin').buffer()
  if not buf then
    return nil
  end
  local name = vim.api.nvim_buf_get_name(buf)
  if name ~= '' then
    return file({ kind = 'file', path = name }, can)
  end
  local block = from_buffer(buf, sources.uri_of(buf))
  if block and not (can and can.embedded_context) then
    return quote({ uri = '', label = sources.name_of(buf), text = block.resource.text })
  end
  return block
end

---@param attachment acp.Attachment?
---@param can acp.Capabilities?
---@return table?
local function attach(attachment, can)
  if not attachment then
    return nil
  end
  return can and can.embedded_context and resource(attachment) or quote(attachment)
end

--- Reads a whole file beside the main loop.
---@param path string
---@param fn fun(bytes: string?) called where little of Neovim can be
local function read(path, fn)
  local uv = vim.uv
  uv.fs_open(path, 'r', 438, function(_, fd)
    if not fd then
      return fn(nil)
    end
    uv.fs_fstat(fd, function(_, stat)
      local size = stat and stat.size or 0
      if size == 0 or size > biggest_image then
        uv.fs_close(fd)
        return fn(nil)
      end
      uv.fs_read(fd, size, 0, function(_, bytes)
        uv.fs_close(fd)
        fn(bytes)
      end)
    end)
  end)
end

---@param mention acp.FileMention
---@param mime string
---@param fn fun(block: table)
local function image(mention, mime, fn)
  read(mention.path, function(bytes)
    local data = bytes and vim.base64.encode(bytes)
    require('acp.client').defer(function()
      fn(data and { type = 'image', mimeType = mime, data = data } or link(mention))
    end)
  end)
end

--- Makes the block of a mention; `fn` gets nil when there is nothing to send. It is called at once
--- unless something has to be waited for.
---@param mention acp.Mention
---@param session { cwd: string, can: acp.Capabilities? }
---@param fn fun(block: table?)
function M.make(mention, session, fn)
  local can = session.can
  if mention.kind == 'diff' then
    return sources.diff(session.cwd, function(attachment)
      fn(attach(attachment, can))
    end)
  elseif mention.kind == 'file' then
    local named = mention --[[@as acp.FileMention]]
    local mime = M.image_type(named.path)
    if mime and can and can.image and named.size then
      return image(named, mime, fn)
    end
    return fn(file(named, can))
  elseif mention.kind == 'buffer' then
    return fn(buffer(can))
  end
  fn(attach(sources[mention.kind](), can))
end

return M
