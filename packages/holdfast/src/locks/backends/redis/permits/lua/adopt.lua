--[[
adopt: go on with a lease that its holder has handed over. Its permits stay taken throughout.

KEYS[1]  permits    hash     see _permits.lua
KEYS[2]  line       zset     see _waiters.lua
KEYS[3]  waiters    hash
KEYS[4]  banned     zset
ARGV[1]  from       string   the request that held
ARGV[2]  fence      integer  the token of its lease
ARGV[3]  id         string   the request that is to hold: 128-bit random, new for every adoption, kept for its repeats
ARGV[4]  ttl_ms     integer  100 .. 2147483647
ARGV[5]  min_fence  integer  the token must be at least this
ARGV[6]  owner      string   JSON, written beside the lease for people to read
ARGV[7]  elsewhere  0 or 1   as in _line.lua of a mutex

Returns  {1, token, id, permits}  held by id for ttl_ms from now; token > every earlier one of the name; the permits are those of before
         {2}                      another request has adopted the lease, or the token was not that of this lease
         {0}                      the lease is over, or this id gave up before: not taken
Raises   WRONGTYPE, ERR           another program owns one of the keys; nothing was written

Retry    safe: the id that holds gets its token again with a fresh ttl
Clock    the server's, read once
Cost     O(log m) for each waiter that is served, with m the length of the line, and O(h) with h the leases when one of them may be over
]]
local from, fence, id, ttl_ms, min_fence, owner = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6]
--- @include "../../../../../redis/lua/_clock.lua"
--- @include "../../lua/_token.lua"
--- @include "../../lua/_waiters.lua"
--- @include "_permits.lua"
--- @include "../../lua/_ban.lua"
local p = { permits = KEYS[1], line = KEYS[2], waiters = KEYS[3], banned = KEYS[4], elsewhere = ARGV[7] == '1' }
--- @include "../../../../../redis/lua/_rights.lua"
--- @rights p.permits
open(p, id)
local last = digits(p.permits, fence)
check_line(p, id)
local is_refused, is_adopted = redis.call('ZSCORE', p.banned, id), redis.call('ZSCORE', p.banned, from)
local held = parse_lease(redis.call('HGET', p.permits, from))

local function adopt()
  local lease = p.lease
  if lease then
    lease.end_ms, p.ttl_ms = p.ms + lease.ttl_ms, lease.ttl_ms
    write_lease(p, id, lease)
    return {1, lease.token, id, lease.weight}
  end
  local is_live = held and held.end_ms > p.ms
  if is_refused or not (is_live or is_adopted) then return {0} end
  if not is_live or last < held.token or last > p.top then return {2} end
  -- The first write takes no memory: a server that is full refuses no script after that.
  redis.call('HDEL', p.permits, from)
  p.used = p.used - held.weight
  local token = hold(p, { id = id, ttl_ms = ttl_ms, turns = held.weight, min_fence = min_fence, owner = owner })
  -- A late copy of the request that held must not take permits after its adopter.
  p.flag = '1'
  ban(p, p.now, from, held.ttl_ms)
  return {1, token, id, held.weight}
end

local reply = adopt()
serve(p)
if reply[1] == 1 then wake_first(p, ttl_ms, '') end
close(p)
return reply
