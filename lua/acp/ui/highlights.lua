--- The highlight groups: links that a colour scheme or the user may override, and a few colours of
--- our own.

local M = {}

--- Not to the milder groups of diagnostics: several schemes have them unreadable on light ground.
---@type table<string, string>
M.links = {
  AcpUser = 'Title',
  AcpUserText = 'CursorLine',
  AcpAgent = 'Function',
  AcpThought = 'Comment',
  AcpError = 'DiagnosticError',
  AcpWarning = 'WarningMsg',
  AcpHint = 'MoreMsg',
  AcpMuted = 'Comment',
  AcpTool = 'Special',
  AcpDone = 'Added',
  AcpBusy = 'MoreMsg',
  AcpWaiting = 'WarningMsg',
  AcpKind = 'Type',
  AcpPlus = 'Added',
  AcpMinus = 'Removed',
  AcpAttachment = 'Underlined',
  AcpConceal = 'Conceal',
  AcpHeading1 = '@markup.heading.1',
  AcpHeading2 = '@markup.heading.2',
  AcpHeading3 = '@markup.heading.3',
  AcpHeading4 = '@markup.heading.4',
  AcpHeading5 = '@markup.heading.5',
  AcpHeading6 = '@markup.heading.6',
  AcpStrong = '@markup.strong',
  AcpEmphasis = '@markup.italic',
  AcpStrike = '@markup.strikethrough',
  AcpLink = '@markup.link.label',
  AcpUrl = '@markup.link.url',
  AcpInlineCode = '@markup.raw',
  AcpCodeBlock = '@markup.raw.block',
  AcpFence = 'Comment',
  AcpLanguage = '@label',
  AcpQuote = '@markup.quote',
  AcpListMark = '@markup.list',
  AcpChecked = '@markup.list.checked',
  AcpUnchecked = '@markup.list.unchecked',
  AcpTableHead = '@markup.heading',
  AcpTableMark = '@punctuation.special',
  AcpRule = '@punctuation.special',
  AcpFiller = 'NonText',
  AcpHunk = 'Folded',
  AcpFile = 'Directory',
  AcpKey = '@property',
  AcpCode = '@markup.raw',
  AcpPlaceholder = 'Comment',
  AcpChip = 'Identifier',
  AcpWinbarQueue = 'Comment',
  AcpPlanDone = 'Comment',
  AcpPlanCurrent = 'MoreMsg',
  AcpPlanPending = 'NormalFloat',
  AcpReviewAdd = 'AcpAdded',
  AcpReviewChange = 'AcpAdded',
  AcpReviewWord = 'AcpAddedWord',
  AcpReviewDelete = 'AcpRemoved',
  AcpReviewDeleteWord = 'AcpRemovedWord',
  AcpReviewSignAdd = 'Added',
  AcpReviewSignChange = 'Changed',
  AcpReviewSignDelete = 'Removed',
  AcpReviewSignEdited = 'WarningMsg',
  AcpReviewHint = 'Comment',
  AcpProposalBar = 'StatusLine',
  AcpRefused = 'AcpStrike',
  AcpFollow = 'Visual',
  AcpTab = 'TabLine',
  AcpTabCurrent = 'TabLineSel',
  AcpLineNr = 'LineNr',
  AcpWinbar = 'Normal',
  AcpWinbarAgent = 'Title',
  AcpWinbarBusy = 'MoreMsg',
  AcpWinbarWaiting = 'WarningMsg',
}

---@type table<string, vim.api.keyset.get_hl_info> our own colours, as they were set last
local own = {}

--- Sets colours where neither user nor scheme has: their groups are left alone.
---@param group string
---@param look vim.api.keyset.highlight
local function set_own(group, look)
  local now = vim.api.nvim_get_hl(0, { name = group })
  if next(now) == nil or vim.deep_equal(now, own[group]) then
    vim.api.nvim_set_hl(0, group, look)
    own[group] = vim.api.nvim_get_hl(0, { name = group })
  end
end

local function link()
  for group, target in pairs(M.links) do
    vim.api.nvim_set_hl(0, group, { link = target, default = true })
  end
end

local function colour()
  for group, look in pairs(require('acp.ui.colours').all()) do
    set_own(group, look)
  end
end

local function apply()
  link()
  colour()
end

local attached = false

--- Defines the groups, now and whenever the colour scheme changes.
function M.attach()
  if attached then
    return
  end
  attached = true
  link()
  -- These are for what comes later, and the first window need not wait for them.
  require('acp.client').defer(colour)
  local group = vim.api.nvim_create_augroup('acp', { clear = false })
  vim.api.nvim_create_autocmd('ColorScheme', {
    group = group,
    desc = 'acp: define the highlight groups again',
    callback = apply,
  })
  vim.api.nvim_create_autocmd('OptionSet', {
    group = group,
    pattern = 'background',
    desc = 'acp: define the colours for the other background',
    callback = apply,
  })
end

--- Numbers of groups, in the order given.
---@param names string[]
---@return integer[]
function M.ids(names)
  return vim.tbl_map(vim.api.nvim_get_hl_id_by_name, names)
end

return M
