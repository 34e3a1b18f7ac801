--[[
latch-look: read a latch, and prolong the life of its key.

KEYS[1]  latch    hash     see _latch.lua
ARGV[1]  keep_ms  integer  life of the key from now on; 0: for ever

Returns  {version, generation, opened, size, left}  see _latch.lua
Raises   WRONGTYPE                                  another program owns the key

Retry    safe
Clock    none
Cost     O(1), 3 commands
]]
local latch = KEYS[1]
local keep_ms = ARGV[1]

--- @include "_fields.lua"
--- @include "_latch.lua"
local state = read_latch(latch)
if state[4] ~= '' then prolong(latch, keep_ms, false) end
return state
