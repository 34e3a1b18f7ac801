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
Cost     O(log n) in the length of the line; 3 commands when free and nobody waits, 7 to stand in line behind others
]]
local lock, line, waiters, banned = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, ttl_ms, turns, min_fence, owner = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]
local wait, inbox, heartbeat, ticket = ARGV[6] == '1', ARGV[7], ARGV[8], ARGV[9]

--- @include "../../../../redis/lua/_clock.lua"
--- @include "../../../../redis/lua/_rights.lua"
local now = read_clock()
local held = redis.call('GET', lock)
-- Others will read what is written into the line.
local is_sound = ttl_ms and turns and tonumber(min_fence) and tonumber(heartbeat) and tonumber(ticket)

-- Nearly always one who comes to a line is new in it, and the lease of another began less than its ttl ago, so that it cannot be over:
-- renewals move its end forwards only. What is not so plain goes on below, as if nothing had been done here.
local top, holder, since, keep_ms, lease_ms
if wait and held and ticket == '0' and is_sound then
  top, holder, since, keep_ms, lease_ms = string.match(held, '^(%d+)%+(%S+) %d+ (%d+) (%d+) (%d+) ')
end
-- A clock that is behind the last token was set back, and those in line may have larger tickets than it would give.
if holder and holder ~= id and #top == 16 and top <= now and since <= now and now - since <= lease_ms * 1000 - 1000 then
  if redis.call('ZSCORE', banned, id) then return {3} end
  need(line, 'HSET', 'PEXPIRE', 'PTTL', 'ZRANK')
  if redis.call('ZADD', line, 'NX', now, id) == 1 then
    local entry = string.format('%.0f', math.floor(now / 1000)) .. ' ' .. ttl_ms .. ' ' .. heartbeat .. ' ' .. turns
    local written = redis.pcall('HSET', waiters, id, entry .. ' ' .. min_fence .. ' ' .. inbox .. ' ' .. owner)
    if type(written) == 'table' then
      redis.call('ZREM', line, id)
      error(written)
    end
    local rank, kept_ms = redis.call('ZRANK', line, id), redis.call('PTTL', waiters)
    local left_ms = lease_ms - math.ceil((now - since) / 1000)
    -- The first in line asks again when the lease is over, and the key of the line may be new.
    if rank == 0 then left_ms = redis.call('PTTL', lock) - keep_ms end
    if rank == 0 or kept_ms < ttl_ms * 3 then
      kept_ms = string.format('%.0f', math.max(kept_ms, redis.call('PTTL', line), ttl_ms * 4))
      redis.call('PEXPIRE', waiters, kept_ms)
      redis.call('PEXPIRE', line, kept_ms)
    end
    if left_ms > 0 and left_ms <= tonumber(lease_ms) then return {2, left_ms, held, rank, string.format('%.0f', now)} end
  end
end

--- @include "_token.lua"
--- @include "_state.lua"
local request = {
  id = id, ttl_ms = ttl_ms, turns = turns, min_fence = min_fence, owner = owner,
  inbox = inbox, heartbeat = heartbeat,
}
local state = read_lock(lock, held)
if state.left_ms == 0 and state.flag == ' ' then return {1, hold(lock, state, ' ', now, request), id} end

-- Only now the functions of the line: making them costs as much as granting.
--- @include "_line.lua"
local keys = { lock = lock, line = line, waiters = waiters, banned = banned, elsewhere = ARGV[10] == '1' }
if state.left_ms > 0 and state.id == id then
  renew(lock, state)
  return {1, state.token, id}
end
if not is_sound then error({ err = 'ERR acquire was called with a number that is none' }) end
if state.flag == '+' and redis.call('ZSCORE', banned, id) then return {3} end
if state.flag == '+' or wait then check_line(keys, id) end
--- @rights lock

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
