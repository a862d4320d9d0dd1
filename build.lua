-- Builds the native library. lazy.nvim runs this file by itself; also for `nvim -l build.lua` and,
-- as `dofile`, for the PackChanged event of vim.pack.
--
-- Nothing is required by module name: the plugin need not be on the runtimepath yet, and an older
-- version of it may be loaded.
local here = assert(debug.getinfo(1, 'S'))
local root = vim.fn.fnamemodify(here.source:sub(2), ':p:h')
dofile(root .. '/lua/acp/install/init.lua').run(root)
