--[[
change: ends or reduces leases, or ends waits, or changes the number of permits, of one name. Then the line is served.

KEYS[1]  permits  hash     see _permits.lua
KEYS[2]  line     zset     see _waiters.lua
KEYS[3]  waiters  hash
KEYS[4]  banned   zset
ARGV[1]  elsewhere  0 or 1   as in _line.lua of a mutex
ARGV[2..n]  id, keep, ban_ms and limit of each change in turn
         id         string   the request that holds or waits; "" for none
         keep       integer  the permits that the lease keeps; 0: it ends
         ban_ms     integer  refuse the id for this long from now on, because a copy of its request may still be on the way; 0: no copy can be
         limit      string   the number of permits from now on, whatever requests say; "-": what requests say; "": as it was

Returns  one entry per change:
         {1}  the lease ended, or has `keep` permits left
         {2}  the same, and somebody else was served
         {3}  was in line, and left it; the next one has been served, or told that it is the first
         {0}  neither: the lease ended before
Raises   WRONGTYPE, ERR  another program owns one of the keys; nothing was written

Retry    safe: a repeat returns {0}, or {1} where permits are kept
Clock    the server's, read once
Cost     O(log m) for each waiter that is served or passed over, with m the length of the line
]]
--- @include "../../../../../redis/lua/_clock.lua"
--- @include "../../lua/_token.lua"
--- @include "../../lua/_waiters.lua"
--- @include "_permits.lua"
--- @include "../../lua/_ban.lua"
local p = { permits = KEYS[1], line = KEYS[2], waiters = KEYS[3], banned = KEYS[4], elsewhere = ARGV[1] == '1' }

-- Whether the first in line has left, who asks as soon as a lease can be over.
local has_first_left = false

local function change(first)
  local id, keep, ban_ms = ARGV[first], tonumber(ARGV[first + 1]), tonumber(ARGV[first + 2])
  local limit = ARGV[first + 3]
  if first > 2 then look_up(p, id) end
  -- The first write takes no memory: a server that is full refuses no script after that.
  local lease, left = p.lease, 0
  redis.call('HDEL', p.permits, keep == 0 and id or '')
  if lease and keep < lease.weight then
    p.used = p.used - (lease.weight - keep)
    lease.weight = keep
    if keep > 0 then write_lease(p, id, lease) end
  elseif not lease and id ~= '' then
    local rank = redis.call('ZRANK', p.line, id)
    left = redis.call('HDEL', p.waiters, id) + redis.call('ZREM', p.line, id)
    has_first_left = has_first_left or rank == 0
    p.kept_ms = 0
  end
  if ban_ms > 0 then
    ban(p, p.now, id, ban_ms)
    p.flag = '1'
  end
  if limit == '-' then
    p.pin = '0'
  elseif limit ~= '' then
    p.limit, p.pin = tonumber(limit), '1'
  end
  return { lease and 1 or left > 0 and 3 or 0 }
end

--- @include "../../../../../redis/lua/_rights.lua"
--- @rights p.permits
local first_id, first_ban_ms = ARGV[2], ARGV[4]
open(p, first_id)
-- Raise before anything is written where a key holds something else. Most releases leave the line alone.
redis.call('ZCARD', p.banned)
if p.flag == '0' and not (#ARGV == 5 and p.lease and first_ban_ms == '0') then check_line(p, first_id) end
local replies = {}
for first = 2, #ARGV, 4 do replies[#replies + 1] = change(first) end
serve(p)
local next_waiter = has_first_left and first_waiter(p, p.now, '', is_there)
if next_waiter then tell(p, next_waiter.inbox, 'wake ' .. next_waiter.id) end
close(p)
-- As many of those who ended a lease as there are others who were served.
for _, reply in ipairs(replies) do
  if reply[1] == 1 and p.granted > 0 then
    reply[1], p.granted = 2, p.granted - 1
  end
end
return replies
