--[[
heartbeat: a sign of life for many waiters at once, which also repairs what a lost message left behind: a
waiter that was granted the lock hears of it here, and a free lock passes to the first in line.

KEYS[1..4n]  lock, line, waiters, banned of each waiter: see _state.lua and _line.lua
ARGV[1]      elsewhere  0 or 1  see _line.lua
ARGV[2..n]   id and heartbeat number of each waiter in turn, in the order of KEYS

Returns  one entry per waiter:
         {1, token, id}                    the lock is this waiter's, for its ttl from now
         {2, left_ms, held, rank, ticket}  still in line, rank waiters ahead
         {3}                               not in line: stand in line again
Raises   nothing of its own: a foreign type under a key of one lock counts as 3 for its waiter

Retry    safe
Clock    the server's, read once
Cost     O(n log m) with m the length of the longest line
]]
--- @include "../../../../redis/lua/_clock.lua"
--- @include "_token.lua"
--- @include "_state.lua"
--- @include "_line.lua"
local now = read_clock()

local function keys_from(first)
  return {
    lock = KEYS[first], line = KEYS[first + 1], waiters = KEYS[first + 2], banned = KEYS[first + 3],
    elsewhere = ARGV[1] == '1',
  }
end

local function heartbeat(keys, id, number)
  local state = read_lock(keys.lock)
  local waiter = read_waiter(keys, id)
  if state.left_ms > 0 and state.id == id then
    renew(keys.lock, state)
    return {1, state.token, id}
  end
  local ticket = redis.call('ZSCORE', keys.line, id)
  if not waiter or not ticket then
    return {3}
  end
  waiter.heartbeat = number
  raise_flag(keys, state, now)
  write_waiter(keys, now, waiter)
  if state.left_ms == 0 then
    local next_id, token = hand_over(keys, state, now, id)
    if next_id == id then return {1, token, id} end
  end
  if state.astray then renew(keys.lock, state) end
  return {2, state.left_ms, state.held or '', redis.call('ZRANK', keys.line, id), text(tonumber(ticket))}
end

--- @include "../../../../redis/lua/_rights.lua"
--- @rights KEYS[1]
local outcomes = {}
for place = 1, #KEYS / 4 do
  local ok, outcome = pcall(heartbeat, keys_from(4 * place - 3), ARGV[2 * place], ARGV[2 * place + 1])
  outcomes[place] = ok and outcome or {3}
end
return outcomes
