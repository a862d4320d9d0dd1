---@meta
--- The tables about changes that wait for the user, beside those of `types.lua`. Nothing here runs.

--- Text that was there before, with the bytes that have changed.
---@class (exact) acp.RemovedLine
---@field text string
---@field spans [integer, integer][] from, to

--- Rows count from 0 and are those of the buffer at `tick`, the last one excluded. Where `first` is
--- `last` there are only removed lines: before row `first`, or after the last row.
---@class (exact) acp.Hunk
---@field id integer
---@field session integer
---@field state 'pending'|'edited'
---@field first integer
---@field last integer
---@field tick integer
---@field removed acp.RemovedLine[]
---@field words [integer, integer, integer][] row, from, to: changed in rows that replace others

--- Changes of a file that wait for the user. Hunks that are not named are as they were.
---@class (exact) acp.Hunks: acp.Effect type "hunks"
---@field path string
---@field buf? integer
---@field full boolean all that was told before is void
---@field kind 'changed'|'made'|'deleted'
---@field set acp.Hunk[]
---@field gone integer[] ids
---@field count integer how many are left

--- What waited when Neovim went the last time waits again.
---@class (exact) acp.TakenUp: acp.SessionEffect type "taken_up"
---@field files integer how many
---@field hunks integer in them

--- What of a buffer's pending changes is taken back: one of these.
---@class (exact) acp.Rejection
---@field hunks? integer[] ids
---@field rows? [integer, integer] first and last, the last one excluded
---@field all? boolean

---@class (exact) acp.Rejected: acp.Effect type "rejected"
---@field tag integer
---@field path string
---@field err? acp.Err

---@class (exact) acp.ChangedHunk
---@field id integer
---@field session integer
---@field state 'pending'|'edited'
---@field start integer the line, from 1
---@field old string[]
---@field new string[]

---@class (exact) acp.ChangedFile
---@field path string
---@field kind 'changed'|'made'|'deleted'
---@field session integer
---@field added integer
---@field removed integer
---@field hunks acp.ChangedHunk[]
