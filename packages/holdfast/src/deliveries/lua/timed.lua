--[[
timed: reads what has a time: the deliveries that processes have, of a queue or of lanes, or the delayed messages of a queue. Changes nothing.

KEYS[1..2]  about, off   see _deliveries.lua
KEYS[3]     away, see _deliveries.lua; or later, see _queue.lua
ARGV[1]     count  integer, at most 1,000

Returns  {member, body, left_ms, ...}  the nearest time first; left_ms at least 0: nobody has looked since one that is overdue
Raises   WRONGTYPE where another program owns a key

Retry    safe
Clock    the server's, read once
Cost     O(n) with n the messages read. Stops after the first that brings the bodies to 256 kB
]]
--- @include "_about.lua"
--- @include "_bytes.lua"
local q = { about = KEYS[1], off = KEYS[2], timed = KEYS[3] }
local count = tonumber(ARGV[1])
open(q, '')
checked(q.off, redis.pcall('HLEN', q.off))
local seen, bytes = {}, 0
local rows = checked(q.timed, redis.pcall('ZRANGE', q.timed, 0, count - 1, 'WITHSCORES'))
for place = 1, #rows, 2 do
  local body = redis.call('HGET', q.off, rows[place])
  if body then
    for _, word in ipairs({ rows[place], body, math.max(0, math.floor(tonumber(rows[place + 1]) - q.ms)) }) do
      seen[#seen + 1] = word
    end
    bytes = bytes + #body
    if bytes >= MOST_BYTES then break end
  end
end
return seen
