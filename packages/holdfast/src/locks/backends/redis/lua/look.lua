--[[
look: who holds and who waits, for many locks at once. Changes nothing.

KEYS[1..4n]  lock, line, waiters, banned of each lock: see _state.lua and _line.lua
ARGV[1]      most  integer  waiters to tell of for each lock, 1 or more

Returns  {now, {held, expiry_ms, waiting, banned, entry, ...}, ...}
         now      16 digits, µs of the server's clock
         held     the value of the lock; "" for none
         expiry_ms  until its key expires
         waiting  how many stand in line, some of whom may be dead
         banned   how many that gave up are still refused
         entry    of the first `most` in line, in order: "<id> <value in waiters>"
         in place of a lock that cannot be read the text of the error: see redis/lua/_foreign.lua
Raises   NOPERM and the like

Retry    safe
Clock    the server's, read once
Cost     O(n log m + n most) with m the length of the longest line; 4 commands for a lock without a line
]]
local most = tonumber(ARGV[1])
local time = redis.call('TIME')
local now = string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)

--- @include "../../../../redis/lua/_refusal.lua"
local function look(lock, line, waiters, banned)
  local held = redis.call('GET', lock) or ''
  if held ~= '' and not string.find(held, '^%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d[ +]') then foreign(lock, held) end
  local waiting = redis.call('ZCARD', line)
  local row = { held, redis.call('PTTL', lock), waiting, redis.call('ZCOUNT', banned, string.sub(now, 1, 13), '+inf') }
  if waiting == 0 then return row end
  local ids = redis.call('ZRANGE', line, 0, most - 1)
  local values = redis.call('HMGET', waiters, unpack(ids))
  for place, id in ipairs(ids) do
    row[#row + 1] = id .. ' ' .. (values[place] or '')
  end
  return row
end

local rows = { now }
for first = 1, #KEYS, 4 do
  local ok, row = pcall(look, KEYS[first], KEYS[first + 1], KEYS[first + 2], KEYS[first + 3])
  rows[#rows + 1] = ok and row or refusal_of(row)
end
return rows
