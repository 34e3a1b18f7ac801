--[[
state: reads the state of many queues. Changes nothing.

KEYS[1..9n]  about, line, off, away, idle, later, again, dead, letters of each queue: see _queue.lua

Returns  one entry per queue: {exists, order, paused, waiting, returned, delayed, in_flight, dead, free, processes, age_ms, stuck}
           exists: 0 or 1: it has been used, and not reset, or its numbers were beyond the clock then. order: '' until somebody names one. paused: 0 or 1
           free: the free places of all processes, and their number
           age_ms: of the oldest message in line, or that came back; -1: there is none
           stuck: handlers that run after their time-out, in all processes
         the text of the error where it cannot be read: another program owns a key, or it is of another layout
Raises   NOPERM and the like

Retry    safe
Clock    the server's, read once
Cost     O(n + m) with n the queues, and m the processes with free places
]]
--- @include "../../redis/lua/_clock.lua"
local KEYS_OF_ONE = 9
local now = tonumber(read_clock())

-- The oldest in line is at the head, whichever end is delivered first. The number of a message is the time of its push in µs.
local function age_ms(line, again, skew)
  local in_line = tonumber(redis.call('LINDEX', line, 0) or '') or math.huge
  local oldest = math.min(in_line, tonumber(redis.call('ZRANGE', again, 0, 0, 'WITHSCORES')[2]) or math.huge)
  if oldest == math.huge then return -1 end
  return math.floor(math.max(0, now + skew - oldest) / 1000)
end

--- @include "../../redis/lua/_refusal.lua"
--- @include "../../deliveries/lua/_last.lua"
--- @include "../../deliveries/lua/_stuck.lua"
local function state_of(first)
  local about, line, away, idle = KEYS[first], KEYS[first + 1], KEYS[first + 3], KEYS[first + 4]
  local later, again, dead = KEYS[first + 5], KEYS[first + 6], KEYS[first + 7]
  local fields = redis.call('HMGET', about, 'order', 'paused', 'skew', 'last', 'stuck')
  read_last(about, fields[4])
  local skew = tonumber(fields[3] or '0')
  local _, stuck = stuck_in(fields[5], math.floor((now + skew) / 1000), '')
  local free, rows = 0, redis.call('ZRANGE', idle, 0, -1, 'WITHSCORES')
  for place = 2, #rows, 2 do free = free - tonumber(rows[place]) end
  return {
    redis.call('EXISTS', about), fields[1] or '', fields[2] and 1 or 0, redis.call('LLEN', line) / 2, redis.call('ZCARD', again), redis.call('ZCARD', later),
    redis.call('ZCARD', away), redis.call('ZCARD', dead), free, #rows / 2, age_ms(line, again, skew), stuck,
  }
end

local entries = {}
for first = 1, #KEYS, KEYS_OF_ONE do
  local is_read, entry = pcall(state_of, first)
  entries[#entries + 1] = is_read and entry or refusal_of(entry)
end
return entries
