--[[
drain: deletes what waits, came back or is delayed. What is in flight, and dead letters, stay.

KEYS[1..7]  about, line, off, away, idle, later, again   see _queue.lua
ARGV[1]   most  integer, at most 1,000: how many of those that came back, and how many delayed ones

Returns  {deleted, left}
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    tells of its own run: a second copy deletes what is there then
Clock    none
Cost     O(n) with n at most 2 * most; the line itself is freed in the background
]]
--- @include "../../deliveries/lua/_last.lua"
local about, line, off, away, idle, later, again = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local most = tonumber(ARGV[1])
read_last(about)
checked(off, redis.pcall('HLEN', off))
checked(away, redis.pcall('ZCARD', away))
checked(idle, redis.pcall('ZCARD', idle))
checked(again, redis.pcall('ZCARD', again))
checked(later, redis.pcall('ZCARD', later))
local deleted = checked(line, redis.pcall('LLEN', line)) / 2
--- @include "../../redis/lua/_rights.lua"
--- @rights line
redis.call('UNLINK', line)
for _, key in ipairs({ again, later }) do
  local members = redis.call('ZRANGE', key, 0, most - 1)
  if #members > 0 then
    redis.call('HDEL', off, unpack(members))
    redis.call('ZREM', key, unpack(members))
  end
  deleted = deleted + #members
end
return { deleted, redis.call('ZCARD', again) + redis.call('ZCARD', later) }
