--[[
barrier-withdraw: an arrival gives up.

KEYS[1..5]  barrier, leases, arrivals, tripped, data  see _barrier.lua
KEYS[6]  withdrawn   string     marks the arrival for a minute, so that a late copy of its request does not bring it back
ARGV[1]  arrival     string
ARGV[2]  generation  16 digits  none before it can have tripped with the arrival

Returns  {'t', generation, index, data}  too late: it was in a generation that tripped; see barrier-attend.lua
         {'x'}                           it does not wait any more
Raises   WRONGTYPE                       another program owns a key; nothing was written

Retry    safe
Clock    none
Cost     O(log n), and O(n) in the generations since
]]
local withdrawn, arrival, generation = KEYS[6], ARGV[1], ARGV[2]

--- @include "_fields.lua"
--- @include "_barrier.lua"
local keys = keys_of(KEYS)
read_barrier(keys)
local before = find_trip(keys, generation, arrival)
if before then return before end
--- @include "../../redis/lua/_rights.lua"
--- @rights keys.barrier
drop_arrival(keys, arrival)
redis.call('SET', withdrawn, '1', 'PX', REQUEST_MS)
return { 'x' }
