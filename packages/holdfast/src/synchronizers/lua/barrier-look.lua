--[[
barrier-look: read a barrier, and drop arrivals whose leases have expired.

KEYS[1..5]  barrier, leases, arrivals, tripped, data  see _barrier.lua
ARGV[1]  most  integer  how many arrivals are listed at most

Returns  {now, size, generation, arrived, {lease_end, entry}, …}  see _barrier.lua; size is empty where there is none
Raises   WRONGTYPE                                                another program owns a key

Retry    safe
Clock    the server's, read once
Cost     O(n) in the arrivals
]]
local most = tonumber(ARGV[1])

--- @include "../../redis/lua/_clock.lua"
--- @include "_fields.lua"
--- @include "_barrier.lua"
local now = read_clock()
local keys = keys_of(KEYS)
local state = read_barrier(keys)
drop_expired(keys, now)
local reply = { now, state.size or '', state.generation, redis.call('ZCARD', keys.leases) }
for place, arrival in ipairs(redis.call('ZRANGE', keys.leases, 0, most - 1)) do
  reply[4 + place] = { redis.call('ZSCORE', keys.leases, arrival), redis.call('HGET', keys.arrivals, arrival) or '' }
end
return reply
