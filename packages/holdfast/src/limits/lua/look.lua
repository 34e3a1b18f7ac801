--[[
look: reads the state of many limits at once. Changes nothing.

KEYS[1..n]  the state of one limit and target each: see charge.lua

Returns  {now, {ttl_ms, state}, ...}
         now     us of the server's clock
         ttl_ms  until the key expires; -1: never
         state   of a sliding limit, which is a list, what is used now as a number; else its text
         absent where there is none, or something else
Raises   NOPERM and the like; nothing for a foreign type

Retry    safe
Clock    the server's, read once
Cost     O(n); sliding: and of the charges that ended since the last
]]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local chunk = 100
local round = 2 ^ 48 -- sums go round

local function parts(item)
  local at, n, sum = string.match(item, '^(%d+) (%d+) (%d+)$')
  return tonumber(at), tonumber(n), tonumber(sum)
end

-- The key lives until the newest charge ends: so it says how long one counts.
local function used_of(key, ttl_ms)
  local newest = redis.pcall('LINDEX', key, -1)
  if type(newest) == 'table' then
    if string.find(newest.err, 'WRONGTYPE') then return nil end
    error(newest)
  end
  local newest_at, _, newest_sum = parts(newest)
  if not newest_at then return nil end
  local ended_at = ttl_ms < 0 and -1 or newest_at - ttl_ms * 1000
  local place = 0
  repeat
    local items = redis.call('LRANGE', key, place, place + chunk - 1)
    for _, item in ipairs(items) do
      local at, n, sum = parts(item)
      if at and at > ended_at then return (newest_sum - sum) % round + n end
    end
    place = place + chunk
  until #items < chunk
  return 0
end

local function look(key)
  local state, ttl_ms = redis.pcall('GET', key), redis.call('PTTL', key)
  if type(state) ~= 'table' then return { ttl_ms, state } end
  if not string.find(state.err, 'WRONGTYPE') then error(state) end
  return { ttl_ms, used_of(key, ttl_ms) }
end

local rows = { now }
for place, key in ipairs(KEYS) do
  rows[place + 1] = look(key)
end
return rows
