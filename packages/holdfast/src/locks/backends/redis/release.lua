--[[
release: give the lock back, to the first waiter in line when there is one; or give up waiting for it.

KEYS[1..5]  lock, fence, line, waiters, gone: see _line.lua
ARGV[1]  id       string   the request that holds or waits
ARGV[2]  ban_ms   integer  when the id neither holds nor waits: refuse it for this long, because a copy of
                           its request may still be on the way; 0 where no copy can be
ARGV[3]  barging  0 or 1   1: leave the lock free and wake the first in line, instead of handing over

Returns  {1}       the lease ended; the lock is free
         {2, id}   the lease ended; the lock now belongs to that waiter, who has been told
         {3}       was in line, and left it
         {0}       neither: the lease ended before, or another holds the lock
Raises   WRONGTYPE  another program owns one of the keys; nothing was written

Retry    safe: a repeat returns {0} and changes nothing for others
Clock    the server's, read once
Cost     O(log n) in the length of the line, and O(1) per dead waiter passed over
]]
--- @include "_line.lua"
local id, ban_ms, barging = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local keys = keys_from(1)

local held = redis.call('GET', keys.lock)
if is_held_by(held, id) then
  if redis.call('EXISTS', keys.waiters) == 1 then
    redis.call('HEXISTS', keys.waiters, id)
    redis.call('ZCARD', keys.line)
    local now_us = read_clock()
    if barging then
      first_waiter(keys, now_us, id, function(waiter)
        return redis.call('PUBLISH', waiter.inbox, 'wake ' .. waiter.id) > 0
      end)
    else
      local next_id = hand_over(keys, now_us, id)
      if next_id then return {2, next_id} end
    end
  end
  redis.call('DEL', keys.lock)
  return {1}
end

local left = redis.call('ZREM', keys.line, id)
left = redis.call('HDEL', keys.waiters, id) + left
if left > 0 then return {3} end
if ban_ms > 0 then
  local now_ms = math.floor(read_clock() / 1000)
  redis.call('ZREMRANGEBYSCORE', keys.gone, '-inf', now_ms)
  redis.call('ZADD', keys.gone, text(now_ms + ban_ms), id)
  if redis.call('PTTL', keys.gone) < ban_ms then
    redis.call('PEXPIRE', keys.gone, ban_ms)
  end
end
return {0}
