--[[
leave: a process has no free places any more, and learns of all its deliveries.

KEYS[1]  off   hash  see _deliveries.lua
KEYS[2]  away  zset  see _deliveries.lua
KEYS[3]  idle  zset  see _deliveries.lua
ARGV[1]  process     without ":"

Returns  {handle, body, ...}  its deliveries, those included that were handed over and have not arrived
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    safe
Clock    none
Cost     O(m) with m the deliveries of all processes
]]
--- @include "../../redis/lua/_checked.lua"
--- @include "_handle.lua"
local off, away, idle = KEYS[1], KEYS[2], KEYS[3]
local process = ARGV[1]
local handles, given = {}, {}
for _, handle in ipairs(checked(away, redis.pcall('ZRANGE', away, 0, -1))) do
  local _, _, _, holder = string.match(handle, HANDLE)
  if holder == process then handles[#handles + 1] = handle end
end
checked(off, redis.pcall('HLEN', off))
checked(idle, redis.pcall('ZCARD', idle))
for first = 1, #handles, CHUNK do
  local last = math.min(first + CHUNK - 1, #handles)
  for place, body in ipairs(redis.call('HMGET', off, unpack(handles, first, last))) do
    if body then
      given[#given + 1] = handles[first + place - 1]
      given[#given + 1] = body
    end
  end
end
redis.call('ZREM', idle, process)
return given
