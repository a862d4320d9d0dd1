-- Settings of luacheck. `vim` may be read; only the fields below are meant to be written.
local writable = { read_only = false, other_fields = true }

std = 'luajit'
cache = false
self = false
max_line_length = 100
max_string_line_length = false
max_cyclomatic_complexity = 15

read_globals = {
  vim = {
    other_fields = true,
    fields = {
      b = writable,
      bo = writable,
      env = writable,
      g = writable,
      go = writable,
      o = writable,
      opt = writable,
      opt_local = writable,
      t = writable,
      v = writable,
      w = writable,
      wo = writable,
    },
  },
}

-- Tests and the tour stand in for the user: they replace pickers and notifications.
files['tests'] = { globals = { 'vim' } }
files['scripts'] = { globals = { 'vim' } }
