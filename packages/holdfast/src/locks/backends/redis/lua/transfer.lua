--[[
transfer: the holder gives the lock to one waiter of its choice, wherever that waiter is in line. If the waiter is not there,
the holder keeps the lock and nobody's lease changes.

KEYS[1]  lock       string   see _state.lua
KEYS[2]  line       zset     see _line.lua
KEYS[3]  waiters    hash
KEYS[4]  banned     zset
ARGV[1]  id         string   the request that holds
ARGV[2]  to         string   the request that waits, and is to hold
ARGV[3]  elsewhere  0 or 1   see _line.lua

Returns  {1, token, to}  the lock belongs to that waiter, whose process has been told
         {0}             nobody who lives and listens waits under that id; the holder holds as before
         {2}             the id does not hold the lock
Raises   WRONGTYPE, ERR  another program owns one of the keys; nothing was written

Retry    safe while the new holder holds: a repeat returns {1} again. Later it returns {2}. A copy of a call that returned {0} may
         still give the lock away, if the waiter has come back.
Clock    the server's, read once
Cost     O(log n) in the length of the line
]]
local lock, line, waiters, banned = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, to = ARGV[1], ARGV[2]
local keys = { lock = lock, line = line, waiters = waiters, banned = banned, elsewhere = ARGV[3] == '1' }

--- @include "../../../../redis/lua/_clock.lua"
--- @include "_token.lua"
--- @include "_state.lua"
--- @include "_line.lua"
local now = read_clock()
local state = read_lock(lock)
check_line(keys, id)
if state.left_ms > 0 and state.id == to and to ~= id then return {1, state.token, to} end
if state.left_ms == 0 or state.id ~= id then return {2} end

local waiter = redis.call('ZSCORE', line, to) and read_waiter(keys, to)
--- @include "../../../../redis/lua/_rights.lua"
--- @rights lock
if not waiter or not lives(keys, now, waiter) or not is_there(keys, waiter) then return {0} end
if state.astray then renew(lock, state) end
local held, expiry_ms = state.held, redis.call('PTTL', lock)
-- Written first, told second, as in a hand-over.
local token = hold(lock, state, '+', now, waiter)
drop_waiter(keys, to)
if tell(keys, waiter, token) then
  wake_first(keys, now, waiter.ttl_ms, '')
  return {1, token, to}
end
redis.call('SET', lock, held, 'PX', expiry_ms)
return {0}
