--[[
cancel: deletes a message that waits, came back, is delayed, or whose delivery is overdue, and says so as its outcome.

KEYS[1..7]  about, line, off, away, idle, later, again   see _queue.lua
KEYS[8]     outcome       of the message, see deliveries/lua/_deliveries.lua
ARGV[1]     results       see deliveries/lua/_deliveries.lua
ARGV[2]     keep_results  ms
ARGV[3]     number        of the message, 16 digits

Returns  1 it is cancelled, now or before; 0 it did not wait
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    safe: a message that is cancelled stays so, for as long as its outcome is kept
Clock    the server's, read once
Cost     O(n) with n the messages in line, and at most 1,000 overdue deliveries; O(log n) for one that came back or is delayed
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_queue.lua"
local q = {
  about = KEYS[1], line = KEYS[2], off = KEYS[3], away = KEYS[4], idle = KEYS[5], later = KEYS[6], again = KEYS[7],
}
local outcome, results, keep_results, number = KEYS[8], ARGV[1], ARGV[2], ARGV[3]
-- Which attempt a delayed message waits for is not known. One that had as many deliveries as this is not found.
local MOST_ATTEMPTS = 1000
local STEP_ATTEMPTS = 100
local MOST_OVERDUE = 1000
open(q, '')
local before = checked(outcome, redis.pcall('GET', outcome))
if before then return before == 'cancelled' and 1 or 0 end
check(q)
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about

local function drop(key, member)
  redis.call('HDEL', q.off, member)
  return redis.call('ZREM', key, member)
end

local function drop_returned()
  local member = redis.call('ZRANGE', q.again, number, number, 'BYSCORE', 'LIMIT', 0, 1)[1]
  return member and drop(q.again, member) or 0
end

local function drop_delayed()
  for from = 0, MOST_ATTEMPTS - STEP_ATTEMPTS, STEP_ATTEMPTS do
    local members = {}
    for attempts = from, from + STEP_ATTEMPTS - 1 do members[#members + 1] = 'later:' .. number .. ':' .. attempts end
    for place, body in ipairs(redis.call('HMGET', q.off, unpack(members))) do
      if body then return drop(q.later, members[place]) end
    end
  end
  return 0
end

-- Nobody takes while no consumer is there, and so nobody puts back what a dead one had.
local function drop_overdue()
  if not q.away_ms or q.away_ms > q.ms then return 0 end
  local now = string.format('%.1f', q.ms)
  local rows = redis.call('ZRANGE', q.away, '-inf', now, 'BYSCORE', 'LIMIT', 0, MOST_OVERDUE, 'WITHSCORES')
  for place = 1, #rows, 2 do
    local _, delivered, _, process = string.match(rows[place], HANDLE)
    if delivered == number then
      -- As return_unanswered() of deliveries/lua/_due.lua: no other message is for a process that slept through a first lease.
      if tonumber(rows[place + 1]) % 1 > 0 then redis.call('ZREM', q.idle, process) end
      return drop(q.away, rows[place])
    end
  end
  return 0
end

-- Bodies begin with a letter for their kind (values.ts), so that none is the same text as a number or a mark. A list loses its elements
-- by their value: number and body become marks, which nothing else in the line is.
local function drop_in_line()
  local place = redis.call('LPOS', q.line, number)
  if not place then return 0 end
  redis.call('LSET', q.line, place, '-')
  redis.call('LSET', q.line, place + 1, '-')
  -- From the nearer end.
  redis.call('LREM', q.line, place < q.in_line and 2 or -2, '-')
  return 1
end

go_on_at_maxmemory(q)
local is_cancelled = drop_returned()
if is_cancelled == 0 and q.later_ms then is_cancelled = drop_delayed() end
if is_cancelled == 0 then is_cancelled = drop_overdue() end
if is_cancelled == 0 then is_cancelled = drop_in_line() end
if is_cancelled == 1 then
  redis.call('SET', outcome, 'cancelled', 'PX', keep_results)
  send(results .. number, '', 'cancelled')
end
return is_cancelled
