---@meta
--- The tables about turns and rewinds that cross the boundary, beside those of `types.lua`, as
--- `src/nvim/convert/rewind.rs` makes them. Nothing here runs.

--- What the editor has is to be recorded. It is answered with the action "recording".
---@class (exact) acp.Recording: acp.SessionEffect type "recording"
---@field turn integer
---@field behind string[] files that are not what their buffers were last in step with

---@class (exact) acp.RewindFile
---@field path string
---@field kind 'made'|'changed'|'deleted'
---@field added? integer nil for what is no text
---@field removed? integer

--- A turn that can be undone, or a rewind.
---@class (exact) acp.RewindTurn
---@field id string the number of the turn, or "r1" for a rewind
---@field time integer when it began, in seconds since 1970
---@field prompt string the first line of it
---@field rewind boolean
---@field files acp.RewindFile[] the first of them
---@field count integer of all files
---@field added integer lines of all files
---@field removed integer
---@field complete boolean whether all that it changed is known
---@field interrupted boolean whether Neovim ended before it did

---@class (exact) acp.Turns: acp.SessionEffect type "turns"
---@field turns acp.RewindTurn[] newest first
---@field ended? integer the turn whose end is told with it

--- What came of a rewind. With `err` there is nothing else.
---@class (exact) acp.Rewound: acp.SessionEffect type "rewound"
---@field tag integer
---@field err? acp.Err
---@field done { path: string, what: 'deleted'|'restored'|'changed' }[] on the disk
---@field kept { path: string, why: string }[] left alone
---@field merge string[] to be changed in their buffers
