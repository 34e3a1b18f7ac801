--[[
beat: a sign of life for many waiters at once, which also repairs what a lost message left behind: a
waiter that was granted the lock hears of it here, and a free lock passes to the first in line.

KEYS[1..5n]  lock, fence, line, waiters, gone of each waiter: see _line.lua
ARGV[1..2n]  id and beat number of each waiter, in the order of KEYS

Returns  one entry per waiter:
         {1, token}                        the lock is this waiter's, for its ttl from now
         {2, left_ms, held, rank, ticket}  still in line, rank waiters ahead
         {3}                               not in line: stand in line again
Raises   nothing of its own: a foreign type under a key of one lock counts as 3 for its waiter

Retry    safe
Clock    the server's, read once
Cost     O(n log m) with m the length of the longest line
]]
--- @include "_hold.lua"
--- @include "_line.lua"
local now_us = read_clock()

local function keys_from(first)
  return {
    lock = KEYS[first],
    fence = KEYS[first + 1],
    line = KEYS[first + 2],
    waiters = KEYS[first + 3],
    gone = KEYS[first + 4],
  }
end

local function beat(keys, id, number)
  local held = redis.call('GET', keys.lock)
  redis.call('GET', keys.fence)
  local waiter = read_waiter(keys, id)
  if is_held_by(held, id) then
    local ttl_ms = string.match(held, '^%S+ %d+ (%d+) ')
    redis.call('PEXPIRE', keys.lock, ttl_ms)
    return {1, token_of(held)}
  end
  local ticket = redis.call('ZSCORE', keys.line, id)
  if not waiter or not ticket then
    return {3}
  end
  waiter.beat = number
  write_waiter(keys, now_us, waiter)
  if not held then
    local next_id, token = hand_over(keys, now_us, id)
    if next_id == id then return {1, token} end
    held = redis.call('GET', keys.lock)
  end
  local left_ms = remaining_ms(keys, held)
  if type(left_ms) == 'table' then return {3} end
  return {2, left_ms, held, redis.call('ZRANK', keys.line, id), text(tonumber(ticket))}
end

local outcomes = {}
for place = 1, #ARGV / 2 do
  local ok, outcome = pcall(beat, keys_from(5 * place - 4), ARGV[2 * place - 1], ARGV[2 * place])
  outcomes[place] = ok and outcome or {3}
end
return outcomes
