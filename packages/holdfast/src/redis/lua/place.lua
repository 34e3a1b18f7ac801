--[[
place: reads the id of the keys under one prefix, and makes it where there is none. It is kept for a day after the last reading.

KEYS[1]  place  string  see redis/place.ts
ARGV[1]  id     string  the one to make

Returns  the id
Raises   WRONGTYPE another program owns the key; nothing was written

Retry    safe
Clock    none
Cost     O(1); writes nothing in the first half of the day
]]
local DAY_MS = 86400000
local place, new_id = KEYS[1], ARGV[1]
local id = redis.call('GET', place)
if not id then
  redis.call('SET', place, new_id, 'PX', DAY_MS)
  return new_id
end
local is_ours = #id > 15 and string.find(id, '^[%w_-]+$')
if is_ours and redis.call('PTTL', place) < DAY_MS / 2 then redis.call('PEXPIRE', place, DAY_MS) end
return id
