--[[
dead: reads the newest dead letters. Changes nothing.

KEYS[1]  about    hash  see _about.lua
KEYS[2]  dead     zset  see _deliveries.lua
KEYS[3]  letters  hash  see _deliveries.lua
ARGV[1]  count    integer, at most 1,000

Returns  {id, body, attempts, reason, ms, ...}  the newest first
Raises   WRONGTYPE where another program owns a key

Retry    safe
Clock    none
Cost     O(n) with n the letters read. Stops after the first that brings the bodies to 256 kB
]]
--- @include "_last.lua"
--- @include "_bytes.lua"
local dead, letters = KEYS[2], KEYS[3]
local count = tonumber(ARGV[1])
read_last(KEYS[1])
local rows = checked(dead, redis.pcall('ZRANGE', dead, 0, count - 1, 'REV', 'WITHSCORES'))
checked(letters, redis.pcall('HLEN', letters))
local seen, bytes = {}, 0
for place = 1, #rows, 2 do
  local found = redis.call('HMGET', letters, rows[place], 'why:' .. rows[place])
  local attempts, reason = string.match(found[2] or '', '^(%d+) (.*)$')
  if found[1] and attempts then
    for _, word in ipairs({ rows[place], found[1], tonumber(attempts), reason, tonumber(rows[place + 1]) }) do
      seen[#seen + 1] = word
    end
    bytes = bytes + #found[1]
    if bytes >= MOST_BYTES then break end
  end
end
return seen
