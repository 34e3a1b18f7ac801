--[[
release: give the lock back, to the first waiter in line when there is one; or give up waiting for it.

KEYS[1]  lock     string   see _state.lua
KEYS[2]  line     zset     see _line.lua
KEYS[3]  waiters  hash
KEYS[4]  banned     zset
ARGV[1]  id       string   the request that holds or waits
ARGV[2]  ban_ms   integer  refuse the id for this long from now on, because a copy of its request may still
                           be on the way; 0 where no copy can be
ARGV[3]  elsewhere  0 or 1  see _line.lua

Returns  {1}       the lease ended; the lock is free
         {2, id}   the lease ended; the lock now belongs to that waiter, who has been told
         {3}       was in line, and left it; the next one has been served where the lock is free, or told that it is the first
         {0}       neither: the lease ended before, or another holds the lock
Raises   WRONGTYPE, ERR  another program owns one of the keys; nothing was written

Retry    safe: a repeat returns {0} and changes nothing for others
Clock    the server's, read once
Cost     O(log n) in the length of the line, and O(1) per dead waiter passed over; 2 commands when nobody waits,
         8 when the first in line takes over, 17 when the next must be woken
]]
local lock, line, waiters, banned = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, ban_ms, elsewhere = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'

local held = redis.call('GET', lock)
local mine = held and ban_ms == 0 and string.sub(held, 17, 18 + #id)
if mine == ' ' .. id .. ' ' then
  local freed = redis.pcall('SET', lock, string.sub(held, 1, 17), 'KEEPTTL')
  if not freed.err then return {1} end
end

--- @include "../../../../redis/lua/_clock.lua"
--- @include "../../../../redis/lua/_message.lua"
--- @include "../../../../redis/lua/_listens.lua"
--- @include "../../../../redis/lua/_rights.lua"
--- @include "_sign.lua"
local now = read_clock()
if mine == '+' .. id .. ' ' then
  -- Nearly always the first in line lives and listens, and the last token is behind the clock. What is not
  -- so plain goes on below, as if nothing had been done here.
  local ids = redis.call('ZRANGE', line, 0, 1)
  local next_id = ids[1]
  local entries = next_id and next_id ~= id and redis.call('HMGET', waiters, unpack(ids))
  local entry = entries and entries[1]
  local since, keep_ms, left_ms = string.match(held, '^%S+ %d+ (%d+) (%d+) (%d+) ', 18)
  -- A lease that began less than its ttl ago cannot be over, because renewals move its end forwards only.
  left_ms = left_ms and since <= now and left_ms - math.ceil((now - since) / 1000) or 0
  if entry and keep_ms and left_ms <= 0 then left_ms = redis.call('PTTL', lock) - keep_ms end
  if entry and left_ms > 0 then
    local seen_ms, ttl_ms, heartbeat, turns, min_fence, inbox, owner =
      string.match(entry, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (.*)$')
    local silent_ms = math.floor(tonumber(now) / 1000) - (tonumber(seen_ms) or math.huge)
    local lives = silent_ms >= 0 and silent_ms < tonumber(ttl_ms)
    -- Whether the next in line asks before the new lease is over, as asks_within() of _waiters.lua says. Else it must be woken.
    local next_asks = #ids == 1
    if lives and entries[2] then
      local its_seen_ms, its_ttl_ms = string.match(entries[2], '^(%d+) (%d+) ')
      local sign_ms = its_seen_ms and its_seen_ms + its_ttl_ms * SIGN_SHARE - now / 1000 or -1
      next_asks = sign_ms >= 0 and sign_ms <= tonumber(ttl_ms)
    end
    if lives and next_asks and min_fence == '0' and string.sub(held, 1, 16) < now and (elsewhere or listens(inbox)) then
      local top = turns == '1' and now or string.format('%016.0f', tonumber(now) + tonumber(turns) - 1)
      local lease = next_id .. ' ' .. now .. ' ' .. now .. ' 86400000 ' .. ttl_ms .. ' ' .. owner
      need(line, 'HDEL', 'ZREM')
      local written = redis.pcall('SET', lock, top .. '+' .. lease, 'PX', string.format('%.0f', 86400000 + tonumber(ttl_ms)))
      if not written.err then
        local grant = 'grant ' .. next_id .. ' ' .. now .. ' ' .. heartbeat .. ' ' .. ttl_ms .. ' ' .. lock
        local _, is_refused = send(inbox, '', grant)
        if not is_refused then
          redis.call('ZREM', line, next_id)
          redis.call('HDEL', waiters, next_id)
          return {2, next_id}
        end
        redis.call('SET', lock, held, 'PX', string.format('%.0f', keep_ms + left_ms))
      end
    end
  end
end

-- Only now the functions of the line: making them costs as much as releasing.
--- @include "_token.lua"
--- @include "_state.lua"
--- @include "_line.lua"
--- @include "_ban.lua"
local keys = { lock = lock, line = line, waiters = waiters, banned = banned, elsewhere = elsewhere }
local state = read_lock(lock, held)
--- @rights lock

if ban_ms > 0 then
  check_line(keys, id)
  redis.call('ZCARD', banned)
  -- The first write takes no memory: a server that is full refuses no script after that.
  redis.call('HDEL', waiters, '')
  raise_flag(keys, state, now)
  ban(keys, now, id, ban_ms)
end

if state.id == id then
  local lived = state.left_ms > 0
  -- A lock that lost its state to an eviction may have been granted to an id that still stands in line.
  drop_waiter(keys, id)
  local next_id = hand_over(keys, state, now)
  if next_id then return lived and {2, next_id} or {0} end
  free(lock, state, flag_now(keys), now)
  return {lived and 1 or 0}
end

check_line(keys, id)
local rank = redis.call('ZRANK', line, id)
local left = redis.call('ZREM', line, id)
left = redis.call('HDEL', waiters, id) + left
if left == 0 then return {0} end
if state.left_ms == 0 then
  hand_over(keys, state, now)
elseif rank == 0 then
  -- The first in line asks as soon as the lease can be over.
  local next_waiter = first_waiter(keys, now, id, is_there)
  if next_waiter then send(next_waiter.inbox, '', 'wake ' .. next_waiter.id) end
end
return {3}
