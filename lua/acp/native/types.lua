---@meta
--- The tables that cross the boundary to the native library, as `src/nvim/convert` makes and reads
--- them. Nothing here runs.

---@class (exact) acp.Err
---@field code string stable, for programs
---@field message string what failed and why
---@field hint? string what to do about it
---@field last_words? string[] the last lines of an agent that died

---@class (exact) acp.Cost
---@field amount number
---@field currency string

---@class (exact) acp.Usage
---@field used integer tokens in the model's context
---@field size integer tokens there is room for
---@field cost? acp.Cost

---@class (exact) acp.SessionInfo
---@field id integer
---@field agent string
---@field title string
---@field cwd string
---@field state 'starting'|'ready'|'running'|'waiting'|'cancelling'|'failed'|'closed'
---@field pending_permissions integer
---@field queued integer
---@field remote? string the agent's own name for the session
---@field usage? acp.Usage
---@field failure? acp.Err why it has failed, in the state "failed"

--- A prompt that waits for its turn.
---@class (exact) acp.Queued
---@field tag integer
---@field text string
---@field blocks integer how many there are, the text among them

--- A condition that is not there holds for everything. To allow something a rule must match all of
--- it, to reject it or to ask about it a part is enough.
---@class (exact) acp.Rule
---@field action 'allow'|'reject'|'ask'
---@field kind? string|string[] "edit", "execute" …
---@field tool? string a glob for the tool's name
---@field path? string a glob for files, seen from the project
---@field inside? boolean files in the project and its further folders, or all others
---@field command? string words of a command; `*` at the end stands for any more
---@field url? string a glob for addresses
---@field agent? string
---@field project? string only for sessions in this folder
---@field source? string where it comes from, for the audit log

---@class (exact) acp.Value
---@field id string
---@field name string
---@field description? string
---@field group? string the heading it belongs under

---@class (exact) acp.Choice
---@field current string it need not be among the values
---@field values acp.Value[]

---@class (exact) acp.ConfigOption
---@field id string
---@field name string
---@field description? string
---@field category? string "mode", "model", "thought_level" or another word
---@field type 'select'|'boolean'
---@field current string|boolean
---@field values? acp.Value[] only for "select"

---@class (exact) acp.SlashCommand
---@field name string
---@field description string
---@field hint? string

---@class (exact) acp.PlanEntry
---@field content string
---@field priority 'high'|'medium'|'low'
---@field status 'pending'|'in_progress'|'completed'

--- One of `entries`, `markdown` and `file`.
---@class (exact) acp.Plan
---@field id? string the ordinary plan has none
---@field entries? acp.PlanEntry[]
---@field markdown? string
---@field file? string

---@class (exact) acp.Capabilities
---@field load boolean
---@field resume boolean
---@field list boolean
---@field delete boolean
---@field close boolean
---@field fork boolean
---@field set_title boolean
---@field directories boolean
---@field logout boolean
---@field image boolean
---@field audio boolean
---@field embedded_context boolean
---@field mcp_http boolean
---@field mcp_sse boolean
---@field steering boolean

---@class (exact) acp.AuthMethod
---@field id string
---@field name string
---@field description? string
---@field kind 'agent'|'terminal'|'command'|'variables'
---@field variables? string[] only for "variables"
---@field command? string only for "command": the whole line that would be run

---@class (exact) acp.Settings
---@field modes? acp.Choice
---@field models? acp.Choice
---@field options acp.ConfigOption[]
---@field option_for { mode?: string, model?: string } ids of the options that are mode and model
---@field commands acp.SlashCommand[]
---@field plans acp.Plan[]
---@field can acp.Capabilities
---@field auth_methods acp.AuthMethod[]
---@field agent { title?: string, version?: string }

--- A session that the agent keeps.
---@class (exact) acp.Kept
---@field id string
---@field cwd string
---@field title? string
---@field updated? string

--- Either rows `first` to `last` replaced by `lines`, or `lines` inserted at `first`, `col`.
---@class (exact) acp.Patch
---@field surface integer the buffer
---@field first integer
---@field last? integer
---@field col? integer
---@field lines string[]
---@field code? true some rows are code that were not
---@field repaint? integer rows from this one on are highlighted otherwise, though their text stays

--- Code, and the rows it is on.
---@class (exact) acp.Code
---@field id integer
---@field lang string the word after a fence, or the path of a file
---@field col integer the column it begins at
---@field rows integer[]

--- One of the classes below, told apart by `type`.
---@class acp.Effect
---@field type string

---@class (exact) acp.SessionChanged: acp.Effect type "session"
---@field info acp.SessionInfo

--- Types "ready", "closed", "settings" and "queue".
---@class (exact) acp.SessionEffect: acp.Effect
---@field session integer

---@class (exact) acp.SessionFailed: acp.SessionEffect type "failed"
---@field err acp.Err

---@class (exact) acp.TurnStarted: acp.SessionEffect type "turn_started"
---@field turn integer

---@class (exact) acp.TurnFinished: acp.SessionEffect type "turn_finished"
---@field turn? integer nil when the prompt was never sent
---@field tag? integer
---@field stop_reason? string
---@field err? acp.Err

---@class (exact) acp.AgentExited: acp.SessionEffect type "agent_exited"
---@field agent string
---@field code? integer
---@field signal? integer
---@field expected boolean

---@class (exact) acp.NoAnswer: acp.SessionEffect type "no_answer"
---@field seconds integer
---@field what string

---@class (exact) acp.Probed: acp.Effect type "probed"
---@field tag integer
---@field ok boolean
---@field name? string
---@field version? string
---@field protocol? string
---@field err? acp.Err

---@class (exact) acp.Notice: acp.Effect type "notify"
---@field level 'error'|'warn'|'info'
---@field message string

---@class (exact) acp.AgentNotice: acp.SessionEffect type "notice"
---@field severity string "info", "warning", "error" or another word
---@field message string

--- A question; the classes below by `kind`. It is answered with the action "answer".
---@class acp.Asked: acp.SessionEffect type "asked"
---@field ask integer
---@field kind 'read'|'write'|'permission'|'elicitation'

---@class (exact) acp.AskedRead: acp.Asked
---@field path string
---@field line? integer from 1
---@field limit? integer

---@class (exact) acp.AskedWrite: acp.Asked
---@field path string

--- A buffer as it is at some moment.
---@class (exact) acp.Live
---@field text_of? integer the buffer, where the core has a copy of its lines; else there is
---@field text? string its lines, with a line break between two
---@field empty? boolean it has no lines at all
---@field ending string its 'fileformat'
---@field eol boolean whether the last line is ended in the file
---@field bom boolean whether the file begins with a byte order mark
---@field modified boolean
---@field tick integer its changedtick

--- Has `lines` and `last`, or `text`, `from` and `to`. Rows and columns count from 0.
---@class (exact) acp.Change
---@field first integer the row
---@field last? integer the row after the last
---@field lines? string[]
---@field from? integer
---@field to? integer the column after the last
---@field text? string

---@class (exact) acp.Clash
---@field line integer of the user's first line, from 1
---@field ours string[] the user's lines
---@field theirs string[] the agent's

---@class (exact) acp.Stamp
---@field sec integer
---@field nsec integer
---@field size integer
---@field csec integer
---@field cnsec integer
---@field ino integer

--- What comes of a write that is asked for next is being found out, for this state of a buffer. It
--- arrives as `acp.Merged` with this tag.
---@class (exact) acp.Ahead: acp.Effect type "ahead"
---@field ask integer
---@field tag integer
---@field buf integer
---@field tick integer
---@field ending string
---@field eol boolean
---@field bom boolean
---@field modified boolean

--- What a merge has found. With `refused` there is nothing else.
---@class (exact) acp.Merged: acp.Effect type "merged"
---@field tag integer
---@field tick integer the state of the buffer it is for
---@field refused? string "gone", "no_base", "no_copy", or words
---@field changes acp.Change[] in the order in which they are to be made
---@field eol boolean
---@field bom boolean
---@field clashes acp.Clash[] where both changed the same: to be settled before anything is done
---@field marked string[] the whole text with markers at those places
---@field is_theirs boolean whether what comes out is what the other side has
---@field stamp? acp.Stamp of the file on the disk

---@class (exact) acp.DiskChanged: acp.Effect type "disk_changed"
---@field tag integer
---@field paths string[]
---@field sure? boolean although the disk says the same of them as before

---@class (exact) acp.Moved: acp.Effect type "moved"
---@field path string a file that is gone
---@field to? string where it is now, if that is known

---@alias acp.FieldValue string|number|boolean|string[]

---@class (exact) acp.Field
---@field name string
---@field title string
---@field description? string
---@field required boolean
---@field type 'text'|'number'|'integer'|'boolean'|'select'|'multiselect'
---@field default? acp.FieldValue
---@field values? { value: string, title: string }[] for "select" and "multiselect"
---@field min? number the least length, number or count
---@field max? number
---@field format? string
---@field pattern? string

--- Has `fields` or `url`.
---@class (exact) acp.AskedElicitation: acp.Asked
---@field message string
---@field tool_call? string
---@field fields? acp.Field[]
---@field url? string

---@class (exact) acp.Settled: acp.SessionEffect type "settled"
---@field ask integer
---@field option? string of a permission: what was chosen

---@class (exact) acp.Ruled: acp.SessionEffect type "ruled"
---@field title string
---@field verdict 'allow'|'reject'
---@field rule string the rule in words

---@class (exact) acp.LoginRequired: acp.SessionEffect type "login_required"
---@field methods acp.AuthMethod[]

---@class (exact) acp.LoginInTerminal: acp.SessionEffect type "login_in_terminal"
---@field command string[]
---@field env table<string, string>
---@field cwd string

---@class (exact) acp.OpenUrl: acp.SessionEffect type "open_url"
---@field url string

---@class (exact) acp.AskDone: acp.SessionEffect type "ask_done"
---@field tag integer
---@field err? acp.Err
---@field sessions? acp.Kept[]

---@class (exact) acp.Touched: acp.SessionEffect type "touched"
---@field path string
---@field line? integer from 1

---@class (exact) acp.DetailFile
---@field path string
---@field added integer
---@field removed integer

---@class (exact) acp.DetailHead: acp.Effect type "detail"
---@field surface integer
---@field title string
---@field kind string
---@field status string
---@field elapsed? number seconds
---@field tabs { id: string, label: string }[]
---@field tab string
---@field files acp.DetailFile[]
---@field locations { path: string, line?: integer }[]
---@field attachments { label: string, mime: string, size: integer }[]
---@field live boolean
---@field gone boolean

---@class (exact) acp.Saved: acp.SessionEffect type "saved"
---@field tag integer
---@field path string
---@field err? acp.Err

---@class (exact) acp.Batch
---@field patches? acp.Patch[]
---@field effects? acp.Effect[]

---@class acp.Action
---@field type string
---@field session? integer

---@alias acp.AskWhat
---| 'set_mode'
---| 'set_model'
---| 'set_option'
---| 'set_switch'
---| 'set_title'
---| 'list_sessions'
---| 'delete_session'
---| 'log_out'

--- What an agent is asked for beside the conversation.
---@class (exact) acp.Ask
---@field what acp.AskWhat
---@field id? string
---@field value? string|boolean

---@class (exact) acp.McpServer
---@field name string
---@field command? string the program, with `args` and `env`
---@field args? string[]
---@field env? table<string, string>
---@field type? 'http'|'sse'
---@field url? string
---@field headers? table<string, string>

--- The number of the session that was opened, or that the action was taken.
---@alias acp.Sent integer|true
