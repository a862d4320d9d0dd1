---@meta
--- The tables that cross the boundary for places of code in buffers. Nothing here runs.

--- Lines that make place for others. Rows count from 0.
---@class (exact) acp.LineEdit
---@field first integer
---@field last integer the row after the last
---@field lines string[]

--- One place, found by a hunk or a part of the code.
---@class (exact) acp.PlacedHunk
---@field edits acp.LineEdit[] what changes, in order: for showing
---@field changes acp.Change[] the same as small as can be, in the order in which it is to be done
---@field score integer how sure it is, of a hundred
---@field how 'exact'|'moved'|'spaces'|'fuzzy'|'region'|'whole'|'selection'|'cursor'

---@class (exact) acp.PlacedMissing
---@field what string a line of it
---@field why 'already'|'ambiguous'|'nowhere'|'no_context'|'overlaps'
---@field rows integer[] where it is, could be, or is nearest to; from 0
---@field score? integer how much of it is there, of a hundred

---@class (exact) acp.PlacedFile
---@field path? string as it was written
---@field kind 'changed'|'made'|'deleted'

---@class (exact) acp.Places
---@field tick integer the state of the buffer they are for
---@field eol boolean
---@field bom boolean
---@field hunks acp.PlacedHunk[] in the order of the buffer
---@field missing acp.PlacedMissing[]

--- What some code is, and where it goes if that was asked. Without `files` there is no such code.
---@class (exact) acp.Placed: acp.Effect type "placed"
---@field tag integer
---@field code? integer its number in the chat
---@field diff? boolean
---@field files? acp.PlacedFile[]
---@field places? acp.Places

--- The action "place". Has `source` and `lang`, or `session` and `tool_call`, or `session` and, for
--- another block of code than the last, `code`.
---@class (exact) acp.PlaceAction: acp.Action
---@field tag integer
---@field file integer which of its files, from 1
---@field source? string
---@field lang? string
---@field tool_call? string whose changes to files are meant
---@field code? integer
---@field live? acp.Live the buffer it goes to
---@field row? integer where the cursor is in there
---@field first? integer the rows that are to make place
---@field last? integer
