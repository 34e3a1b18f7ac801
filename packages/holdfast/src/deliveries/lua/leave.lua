--[[
leave: a process has no free places any more, and learns of all its deliveries in steps.

KEYS[1]  about  hash  see _about.lua
KEYS[2]  away   zset  see _deliveries.lua
KEYS[3]  idle   zset  see _deliveries.lua
ARGV[1]  process     without ":"
ARGV[2]  cursor      '0' at first, then that of the answer before

Returns  {cursor, handle, ...}  deliveries of the process, those included that were handed over and have not arrived; some may be in two answers.
                    cursor: '0' with the last ones
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    safe
Clock    none
Cost     O(n) with n about 1,000 of the deliveries of all processes
]]
--- @include "_last.lua"
--- @include "_handle.lua"
--- @include "_heard.lua"
local q = { about = KEYS[1], away = KEYS[2], idle = KEYS[3] }
local process, cursor = ARGV[1], ARGV[2]
local SCANNED = 1000
read_last(q.about)
checked(q.idle, redis.pcall('ZCARD', q.idle))
local found = checked(q.away, redis.pcall('ZSCAN', q.away, cursor, 'COUNT', SCANNED))
local reply = { found[1] }
for place = 1, #found[2], 2 do
  local _, _, _, holder = string.match(found[2][place], HANDLE)
  if holder == process then reply[#reply + 1] = found[2][place] end
end
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about
-- At the first step alone: behind it a take may have stated places again.
if cursor == '0' then redis.call('ZREM', q.idle, process) end
-- It has nothing, and waits for nothing: nobody need look for it.
if cursor == '0' and not reply[2] and found[1] == '0' then redis.pcall('ZREM', heard_key(q), process) end
return reply
