--[[
acquire: take the lock, or stand in line for it, or say who holds it.

KEYS[1]   lock      string   see _state.lua
KEYS[2]   line      zset     see _line.lua
KEYS[3]   waiters   hash
KEYS[4]   banned    zset
ARGV[1]   id        string   128-bit random, new for every request, kept for its repeats
ARGV[2]   ttl_ms    integer  100 .. 2147483647
ARGV[3]   turns     integer  tokens to reserve, 1 .. 1000
ARGV[4]   min_fence integer  the token must be at least this; 0 for none
ARGV[5]   owner     string   JSON, written beside the lease for people to read
ARGV[6]   wait      0 or 1   1: stand in line when the lock is not free
ARGV[7]   inbox     string   channel of this process; read only when wait is 1
ARGV[8]   heartbeat integer  the number of this sign of life, returned with a later grant
ARGV[9]   ticket    integer  place in line held before, 0 for none
ARGV[10]  elsewhere 0 or 1   see _line.lua

Returns  {1, token, id}                    held for ttl_ms from now; token > every earlier one
         {0, left_ms, held}                busy: held is the value of the lock
         {2, left_ms, held, rank, ticket}  in line, rank waiters ahead
         {3}                               this id gave up before: not taken
Raises   WRONGTYPE, ERR                    another program owns one of the keys; nothing was written

Retry    safe: the id that holds gets its token again with a fresh ttl; in line, its place.
Clock    the server's, read once
Cost     O(log n) in the length of the line; 3 commands when free and nobody waits
]]
local lock, line, waiters, banned = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, ttl_ms, turns, min_fence, owner = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]
local wait, inbox, heartbeat, ticket = ARGV[6] == '1', ARGV[7], ARGV[8], ARGV[9]
local keys = { lock = lock, line = line, waiters = waiters, banned = banned, elsewhere = ARGV[10] == '1' }
local request = {
  id = id, ttl_ms = ttl_ms, turns = turns, min_fence = min_fence, owner = owner,
  inbox = inbox, heartbeat = heartbeat,
}

--- @include "_clock.lua"
--- @include "_token.lua"
--- @include "_state.lua"
local now = read_clock()
local state = read_lock(lock)
-- mutation: cost (never), because the long way below does the same
if state.left_ms == 0 and state.flag == ' ' then return {1, hold(lock, state, ' ', now, request), id} end

-- Only now the functions of the line: making them costs as much as granting.
--- @include "_line.lua"
if state.left_ms > 0 and state.id == id then
  renew(lock, state)
  return {1, state.token, id}
end
-- Others will read what is written into the line.
if not (ttl_ms and turns and tonumber(min_fence) and tonumber(heartbeat) and tonumber(ticket)) then
  error({ err = 'ERR acquire was called with a number that is none' })
end
if state.flag == '+' and redis.call('ZSCORE', banned, id) then return {3} end
-- mutation: cost (always), because it costs two reads more
if state.flag == '+' or wait then check_line(keys, id) end

if state.left_ms == 0 then
  local next_id, token = hand_over(keys, state, now, id)
  if next_id == id then return {1, token, id} end
end
if state.left_ms == 0 then
  -- Nobody who lives stands in line. Held first: where the server refuses that, it has kept its place.
  local token = hold(lock, state, flag_now(keys), now, request)
  drop_waiter(keys, id)
  return {1, token, id}
end

if state.astray then renew(lock, state) end
if not wait then return {0, state.left_ms, state.held} end

local place = redis.call('ZSCORE', line, id)
raise_flag(keys, state, now)
if not place then
  if ticket == '0' then
    local last = redis.call('ZRANGE', line, -1, -1, 'WITHSCORES')[2]
    ticket = text(math.max(tonumber(last or '0') + 1, tonumber(now)))
  end
  redis.call('ZADD', line, ticket, id)
  place = ticket
end
write_waiter(keys, now, request)
return {2, state.left_ms, state.held, redis.call('ZRANK', line, id), text(tonumber(place))}
