--[[
revoke: take its permits from one holder, and serve the line. The last token rises above all that the holder had reserved, so that a
fenced resource can refuse its later writes. A message to its inbox tells the holder.

KEYS[1]  permits    hash     see _permits.lua
KEYS[2]  line       zset     see _waiters.lua
KEYS[3]  waiters    hash
KEYS[4]  banned     zset
ARGV[1]  elsewhere  0 or 1   as in _line.lua of a mutex
ARGV[2]  fence      integer  the token of the lease, or one that it has reserved for a turn
ARGV[3]  inboxes    string   what the channel of an inbox begins with; the owner record has the rest

Returns  {1, now, id, lease, told}  the lease that was taken away, with its id, and how many heard the message; now: µs of the server's clock
         {0}                        nobody holds with that token
Raises   WRONGTYPE, ERR             another program owns one of the keys; nothing was written

Retry    tells of its own run: a second copy returns {0}
Clock    the server's, read once
Cost     O(h) with h the leases, and O(log m) for each waiter that is served or passed over, with m the length of the line
]]
--- @include "../../../../../redis/lua/_clock.lua"
--- @include "../../lua/_token.lua"
--- @include "../../lua/_waiters.lua"
--- @include "_permits.lua"
local p = { permits = KEYS[1], line = KEYS[2], waiters = KEYS[3], banned = KEYS[4], elsewhere = ARGV[1] == '1' }
local fence = digits(p.permits, ARGV[2])

-- Of the leases that began at this token or before, the newest.
local function newest_until(token)
  local fields, found = redis.call('HGETALL', p.permits), nil
  for place = 1, #fields, 2 do
    local lease = fields[place] ~= '.' and parse_lease(fields[place + 1])
    if lease and lease.end_ms > p.ms and lease.token <= token and not (found and found.token > lease.token) then
      found, lease.id, lease.value = lease, fields[place], fields[place + 1]
    end
  end
  return found
end

--- @include "../../../../../redis/lua/_rights.lua"
--- @rights p.permits
open(p, '')
check_line(p, '')
redis.call('ZCARD', p.banned)
local lease = newest_until(fence)
local ok, owner = pcall(cjson.decode, lease and lease.owner or '')
if not ok or type(owner) ~= 'table' then owner = {} end
if not lease or fence > add(p.permits, lease.token, (tonumber(owner.tokens) or 1) - 1) then return {0} end
-- The first write takes no memory: a server that is full refuses no script after that.
redis.call('HDEL', p.permits, lease.id)
p.used, p.top = p.used - lease.weight, add(p.permits, p.top, 1)
serve(p)
p.is_saved = false
close(p)
local told = type(owner.inbox) == 'string' and owner.inbox ~= '' and tell(p, ARGV[3] .. owner.inbox, 'revoked ' .. lease.id) or 0
return {1, p.now, lease.id, lease.value, told}
