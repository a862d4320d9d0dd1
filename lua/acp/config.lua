--- What the user may set: defaults, types, and the check of what was written.

local M = {}

---@class (exact) acp.AgentOpts
---@field command? string[] program and arguments, speaking ACP on its standard input and output
---@field url? string instead of command: tcp://host:port, unix:///path, ws://… or wss://…
---@field env? table<string, string>
---@field install? string the command that installs it, shown when it is missing
---@field mcp_servers? acp.McpServers|false beside the common ones; false: none at all
---@field directories? string[] beside the common ones
---@field pace? number only for the tutor: how long its pauses are, 1 is normal, 0 is none

--- Tool servers by name, or a list of servers that have one.
---@alias acp.McpServers table<string, acp.McpOpts>|acp.McpOpts[]

---@alias acp.Layout 'right'|'left'|'bottom'|'float'|'tab'

---@class (exact) acp.ChatOpts
---@field layout? acp.Layout
---@field width? number columns, or a fraction of the screen when below 1: for "right" and "left"
---@field height? number rows, or a fraction of the screen when below 1: for "bottom"
---@field float? { width?: number, height?: number } of both windows together: for "float"
---@field plan? 'float'|'off' whether the agent's plan is kept in view
---@field conceal? boolean whether the marks of Markdown are hidden
---@field prompt_height? integer rows of the prompt while there is little in it
---@field prompt_max_height? integer rows it may grow to

---@alias acp.PreviewKeys table<string, string|false>

---@class (exact) acp.PermissionOpts
---@field focus? 'chat'|'never' whether a question may take the focus in its chat by itself
---@field picker? 'builtin'|'vim.ui.select' where you answer
---@field store? 'ask'|'never'|'always' whether "always" becomes a rule of the project
---@field notify_rules? boolean whether you are told when a rule has answered
---@field rules? acp.RuleOpts[] after those of the project; the first that fits decides
---@field partial? 'revert'|'reject' what the agent is answered when you want a part of a change
---@field keys? acp.PreviewKeys while a change is previewed

---@class (exact) acp.PermissionConfig
---@field focus 'chat'|'never'
---@field picker 'builtin'|'vim.ui.select'
---@field store 'ask'|'never'|'always'
---@field notify_rules boolean
---@field rules acp.RuleOpts[]
---@field partial 'revert'|'reject'
---@field keys acp.PreviewKeys

---@alias acp.KeyOpts false|table<'n'|'i', string|string[]|false>

---@class (exact) acp.DetailConfigOpts
---@field diff? 'auto'|'unified'|'split' "auto": side by side where there is room for it
---@field width? number columns, or a fraction of the screen when below 1
---@field height? number rows, or a fraction of the screen when below 1

---@class (exact) acp.DetailConfig
---@field diff 'auto'|'unified'|'split'
---@field width number
---@field height number

---@alias acp.ReviewKeys table<string, string|false>

---@class (exact) acp.ReviewConfigOpts
---@field unopened? boolean whether changes to files that are not open are looked for
---@field inline? boolean whether pending changes are shown in their files
---@field signs? boolean beside them
---@field sign_priority? integer
---@field hint? boolean the keys, at the change under the cursor
---@field keys? false|acp.ReviewKeys
---@field keep? integer how many files of a project are kept for the next time
---@field days? number for how long

---@class (exact) acp.ReviewConfig
---@field unopened boolean
---@field inline boolean
---@field signs boolean
---@field sign_priority integer
---@field hint boolean
---@field keys acp.ReviewKeys
---@field keep integer
---@field days number

---@class (exact) acp.RewindConfigOpts
---@field enabled? boolean
---@field keep? integer how many turns of a project are kept
---@field days? number for how long
---@field max_mb? number how much one snapshot may add
---@field wait_ms? number how long a prompt waits for its snapshot

---@class (exact) acp.RewindConfig
---@field enabled boolean
---@field keep integer
---@field days number
---@field max_mb number
---@field wait_ms number

---@alias acp.FileOpts { after_write?: 'save'|'keep', save_autocmds?: boolean, max_read?: number,
---private?: string[] }

---@class (exact) acp.Opts
---@field default_agent? string
---@field agents? table<string, acp.AgentOpts|false>
---@field mcp_servers? acp.McpServers tool servers for all agents
---@field directories? string[] further folders all agents may work in
---@field start_timeout? number seconds an agent may take to start before you are asked
---@field chat? acp.ChatOpts
---@field detail? acp.DetailConfigOpts
---@field icons? 'auto'|'unicode'|'ascii' what is drawn with: "auto" knows poor terminals
---@field keys? false|table<string, acp.KeyOpts>
---@field log? { level?: 'error'|'warn'|'info'|'debug'|'trace' }
---@field permissions? acp.PermissionOpts
---@field files? acp.FileOpts
---@field review? acp.ReviewConfigOpts
---@field rewind? acp.RewindConfigOpts whether and how turns are recorded, to be undone
---@field history? { size?: integer, persist?: boolean } past prompts: how many, and whether on disk
---@field prompt? { complete?: 'auto'|'manual' } whether completion opens by itself

---@class (exact) acp.ChatConfig
---@field layout acp.Layout
---@field width number
---@field height number
---@field float { width: number, height: number }
---@field plan 'float'|'off'
---@field conceal boolean
---@field prompt_height integer
---@field prompt_max_height integer

---@class (exact) acp.Config
---@field default_agent string|false false: the first known agent on PATH
---@field agents table<string, acp.AgentOpts|false>
---@field mcp_servers acp.McpServers
---@field directories string[]
---@field start_timeout number
---@field chat acp.ChatConfig
---@field detail acp.DetailConfig
---@field icons 'auto'|'unicode'|'ascii'
---@field keys table<string, acp.KeyOpts>
---@field log { level: string }
---@field permissions acp.PermissionConfig
---@field files { after_write: string, save_autocmds: boolean, max_read: number, private: string[] }
---@field review acp.ReviewConfig
---@field rewind acp.RewindConfig
---@field history { size: integer, persist: boolean }
---@field prompt { complete: 'auto'|'manual' }

---@type acp.Config
M.defaults = {
  default_agent = false,
  agents = {},
  mcp_servers = {},
  directories = {},
  start_timeout = 30,
  chat = {
    layout = 'right',
    width = 0.4,
    height = 0.4,
    float = { width = 0.8, height = 0.8 },
    prompt_height = 3,
    prompt_max_height = 12,
    plan = 'float',
    conceal = false,
  },
  icons = 'auto',
  detail = { diff = 'auto', width = 0.9, height = 0.8 },
  keys = {
    send = { n = { '<CR>', '<C-s>' }, i = '<C-s>' },
    cancel = { n = '<C-c>', i = '<C-c>' },
    insert = { n = { 'i', 'a', 'o', 'I', 'A', 'O' } },
    hide = { n = 'q' },
    help = { n = 'g?' },
    open = { n = { '<CR>', 'K', '<2-LeftMouse>' } },
    save = { n = 's' },
    visit = { n = 'gx' },
    apply = { n = 'gA' },
    toggle = { n = { '<Tab>', 'za' } },
    expand = { n = 'zo' },
    collapse = { n = 'zc' },
    expand_all = { n = 'zR' },
    collapse_all = { n = 'zM' },
    message_next = { n = ']]' },
    message_prev = { n = '[[' },
    tab_next = { n = { '<Tab>', 'gt' } },
    tab_prev = { n = { '<S-Tab>', 'gT' } },
    hunk_next = { n = ']c' },
    hunk_prev = { n = '[c' },
    jump = { n = { '<CR>', 'gf', 'gd' } },
    jump_split = { n = '<C-w>f' },
    split = { n = 's' },
    history_prev = { n = '<Up>', i = '<Up>' },
    history_next = { n = '<Down>', i = '<Down>' },
    history_search = { i = '<C-x><C-h>' },
    queue = { n = 'gQ' },
    review_accept = { n = 'ga' },
    review_reject = { n = 'gr' },
  },
  log = { level = 'info' },
  permissions = {
    focus = 'chat',
    picker = 'builtin',
    store = 'ask',
    notify_rules = false,
    rules = {},
    partial = 'revert',
    keys = {
      next = ']g',
      previous = '[g',
      accept = 'gla',
      refuse = 'glr',
      toggle = 'glt',
      edit = 'gle',
      allow = 'glA',
      reject = 'glR',
      leave = 'glq',
      help = 'gl?',
    },
  },
  files = {
    after_write = 'save',
    save_autocmds = true,
    max_read = 32,
    private = {
      '.env',
      '.env.*',
      '.envrc',
      '*.{pem,key,p12,pfx,jks,keystore,kdbx}',
      'id_{rsa,dsa,ecdsa,ed25519}',
      '{.netrc,.pgpass,.npmrc,.pypirc,.git-credentials,.htpasswd}',
      '.{ssh,gnupg,aws,azure,kube,docker}/**',
    },
  },
  review = {
    unopened = true,
    inline = true,
    signs = true,
    sign_priority = 9,
    hint = true,
    keys = {
      next = ']g',
      previous = '[g',
      accept = 'gla',
      reject = 'glr',
      edit = 'gle',
      reason = 'glw',
      accept_file = 'glA',
      reject_file = 'glR',
      toggle = 'glt',
      list = 'gll',
    },
    keep = 200,
    days = 14,
  },
  rewind = { enabled = true, keep = 50, days = 14, max_mb = 200, wait_ms = 1000 },
  history = { size = 1000, persist = true },
  prompt = { complete = 'auto' },
}

---@type acp.Opts?
local given
---@type acp.Config?
local current
---@type string[]
local found = {}

local function compute()
  found = {}
  current = M.defaults
  if vim.g.acp ~= nil then
    current = require('acp.config.check').apply(current, vim.g.acp, 'vim.g.acp', found)
  end
  if given ~= nil then
    current = require('acp.config.check').apply(current, given, 'setup', found)
  end
  table.sort(found)
  if #found > 0 then
    local message = 'acp.nvim options:\n  ' .. table.concat(found, '\n  ')
    require('acp.notify').once(message, message, 'warn')
  end
end

--- Stores the options; everything else happens at first use.
---@param opts? acp.Opts
function M.set(opts)
  given = opts
  compute()
end

--- The options in force: defaults, `vim.g.acp`, then `setup`.
---@return acp.Config
function M.get()
  if not current then
    compute()
  end
  return current --[[@as acp.Config]]
end

--- What is wrong with the options, one sentence each.
---@return string[]
function M.problems()
  M.get()
  return found
end

return M
