---@meta
--- The tables that cross the boundary for questions about a repository. Nothing here runs.

--- The action "git".
---@class (exact) acp.GitAction: acp.Action
---@field tag integer
---@field what 'files'|'diff'
---@field cwd string

--- An answer, or a piece of it.
---@class (exact) acp.GitEffect: acp.Effect type "git"
---@field tag integer
---@field text string names with a NUL after each, or a diff
---@field known boolean whether git knows of the folder
---@field cut boolean whether there is more than is told
---@field last boolean
