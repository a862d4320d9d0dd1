--- The agents known by name, how to start them and how to get them.

---@class (exact) acp.KnownAgent
---@field command? string[]
---@field embedded? string
---@field env? table<string, string>
---@field install? string
---@field home? string
---@field other_way? acp.OtherWay

--- Another package of an agent, whose program has another name.
---@class (exact) acp.OtherWay
---@field command string[]
---@field install string
---@field platform string where there is such a package, as system and machine

local M = {}

---@param package string
---@return string
local function npm(package)
  return 'npm install -g ' .. package
end

---@type table<string, acp.KnownAgent>
M.agents = {
  claude = {
    command = { 'claude-agent-acp' },
    install = npm('@agentclientprotocol/claude-agent-acp'),
    home = 'https://github.com/agentclientprotocol/claude-agent-acp',
  },
  codex = {
    command = { 'codex-acp' },
    install = npm('@agentclientprotocol/codex-acp'),
    home = 'https://github.com/agentclientprotocol/codex-acp',
  },
  opencode = {
    command = { 'opencode', 'acp' },
    install = npm('opencode-ai'),
    home = 'https://opencode.ai',
  },
  gemini = {
    command = { 'gemini', '--acp' },
    install = npm('@google/gemini-cli'),
    home = 'https://github.com/google-gemini/gemini-cli',
  },
  copilot = {
    command = { 'copilot', '--acp' },
    install = npm('@github/copilot'),
    home = 'https://github.com/github/copilot-cli',
  },
  qwen = {
    command = { 'qwen', '--acp' },
    install = npm('@qwen-code/qwen-code'),
    home = 'https://github.com/QwenLM/qwen-code',
  },
  cline = { command = { 'cline', '--acp' }, install = npm('cline'), home = 'https://cline.bot' },
  auggie = {
    command = { 'auggie', '--acp' },
    env = { AUGMENT_DISABLE_AUTO_UPDATE = '1' },
    install = npm('@augmentcode/auggie'),
    home = 'https://www.augmentcode.com',
  },
  kilo = {
    command = { 'kilo', 'acp' },
    install = npm('@kilocode/cli'),
    home = 'https://kilocode.ai',
  },
  grok = {
    command = { 'grok', 'agent', 'stdio' },
    install = npm('@xai-official/grok'),
    home = 'https://x.ai',
  },
  pi = {
    command = { 'pi-acp' },
    install = npm('pi-acp'),
    home = 'https://github.com/svkozak/pi-acp',
  },
  droid = {
    command = { 'droid', 'exec', '--output-format', 'acp-daemon' },
    env = { DROID_DISABLE_AUTO_UPDATE = 'true', FACTORY_DROID_AUTO_UPDATE_ENABLED = 'false' },
    install = npm('droid'),
    home = 'https://factory.ai',
  },
  goose = {
    command = { 'goose', 'acp' },
    install = 'brew install block-goose-cli',
    home = 'https://block.github.io/goose',
    other_way = {
      command = { 'goose-binary-linux-x64', 'acp' },
      install = npm('@aaif/goose-binary-linux-x64'),
      platform = 'Linux x86_64',
    },
  },
  kimi = {
    command = { 'kimi', 'acp' },
    install = npm('@moonshot-ai/kimi-code'),
    home = 'https://github.com/MoonshotAI/kimi-code',
  },
  cursor = {
    command = { 'cursor-agent', 'acp' },
    install = 'curl https://cursor.com/install -fsS | bash',
    home = 'https://cursor.com/cli',
  },
  junie = {
    command = { 'junie', '--acp=true' },
    install = npm('@jetbrains/junie'),
    home = 'https://www.jetbrains.com/junie',
  },
  vibe = {
    command = { 'vibe-acp' },
    install = 'uv tool install mistral-vibe',
    home = 'https://docs.mistral.ai/mistral-vibe',
  },
  devin = {
    command = { 'devin', 'acp' },
    install = 'curl -fsSL https://cli.devin.ai/install.sh | bash',
    home = 'https://docs.devin.ai/cli',
  },
  tutor = { embedded = 'tutor' },
}

--- Which of several installed agents is meant when none is named: best known first.
M.preference = {
  'claude',
  'codex',
  'opencode',
  'gemini',
  'copilot',
  'cursor',
  'qwen',
  'goose',
  'cline',
  'auggie',
  'kilo',
  'grok',
  'kimi',
  'vibe',
  'junie',
  'droid',
  'devin',
  'pi',
}

return M
