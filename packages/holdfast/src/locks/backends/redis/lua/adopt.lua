--[[
adopt: go on with a lease that its holder has handed over. The lock stays held throughout.

KEYS[1]  lock       string   see _state.lua
KEYS[2]  line       zset     see _line.lua
KEYS[3]  waiters    hash
KEYS[4]  banned     zset
ARGV[1]  from       string   the request that held
ARGV[2]  fence      integer  the token of its last turn
ARGV[3]  id         string   the request that is to hold: 128-bit random, new for every adoption, kept for its repeats
ARGV[4]  ttl_ms     integer  100 .. 2147483647
ARGV[5]  turns      integer  tokens to reserve, 1 .. 1000
ARGV[6]  min_fence  integer  the token must be at least this
ARGV[7]  owner      string   JSON, written beside the lease for people to read
ARGV[8]  elsewhere  0 or 1   see _line.lua

Returns  {1, token, id}  held by id for ttl_ms from now; token > every one that was handed out or reserved
         {2}             another request has adopted the lease, or holds the lock, or the token was not one of this lease
         {0}             the lease is over, or this id gave up before: not taken
Raises   WRONGTYPE, ERR  another program owns one of the keys; nothing was written

Retry    safe: the id that holds gets its token again with a fresh ttl
Clock    the server's, read once
Cost     O(log n) in the number of those that gave up; at most 15 commands, and O(1) per dead waiter passed over
]]
local lock, line, waiters, banned = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local from, fence, id = ARGV[1], ARGV[2], ARGV[3]
local request = { id = id, ttl_ms = tonumber(ARGV[4]), turns = tonumber(ARGV[5]), min_fence = ARGV[6], owner = ARGV[7] }
local keys = { lock = lock, line = line, waiters = waiters, banned = banned, elsewhere = ARGV[8] == '1' }

--- @include "../../../../redis/lua/_clock.lua"
--- @include "_token.lua"
--- @include "_state.lua"
--- @include "_line.lua"
--- @include "_ban.lua"
local now = read_clock()
local state = read_lock(lock)
local last = digits(lock, fence)
check_line(keys, id)
local is_refused, is_adopted = redis.call('ZSCORE', banned, id), redis.call('ZSCORE', banned, from)
if state.left_ms > 0 and state.id == id then
  renew(lock, state)
  return {1, state.token, id}
end
if is_refused then return {0} end
if is_adopted then return {2} end
if state.left_ms == 0 then return {0} end
if state.id ~= from or last < state.token or last > state.top then return {2} end

--- @include "../../../../redis/lua/_rights.lua"
--- @rights lock
-- The first write takes no memory: a server that is full refuses no script after that.
redis.call('HDEL', waiters, '')
-- A late copy of the request that held must not take the lock after its adopter.
raise_flag(keys, state, now)
ban(keys, now, from, state.ttl_ms)
local token = hold(lock, state, '+', now, request)
wake_first(keys, now, request.ttl_ms, '')
return {1, token, id}
