--[[
reset: deletes everything of all lanes, but for outcomes, which stay for their time. Processes with free places take again.

KEYS[1..10]  about, rec, ready, off, away, idle, later, again, cancelled, held   see _lanes.lua
KEYS[11..12] dead, letters                               see _lanes.lua
ARGV[1]      name      of the lanes, without blanks
ARGV[2]      inboxes   see deliveries/lua/_deliveries.lua

Returns  1 all is deleted; 0 the bodies of some lanes are: go on
Raises   nothing: keys of another program under these names are deleted as well

Retry    safe
Clock    none
Cost     O(n) with n lanes; at most 1,000 of them in one call, each of which ends with fewer lanes
]]
--- @include "../../redis/lua/_message.lua"
--- @include "../../deliveries/lua/_heard.lua"
local about, rec, idle, name, inboxes = KEYS[1], KEYS[2], KEYS[6], ARGV[1], ARGV[2]
-- Any lanes do: HSCAN from its beginning finds none where those there are gone.
local found = redis.pcall('HRANDFIELD', rec, 1000)
--- @include "../../redis/lua/_rights.lua"
--- @rights about
if found.err and not string.find(found.err, 'WRONGTYPE') then error(found) end
if not found.err then
  for _, lane in ipairs(found) do redis.call('UNLINK', about .. ':lane:' .. lane) end
  if found[1] then redis.call('HDEL', rec, unpack(found)) end
  if redis.call('EXISTS', rec) == 1 then return 0 end
end
local processes = redis.pcall('ZRANGE', idle, 0, -1)
redis.call('UNLINK', heard_key({ about = about }), unpack(KEYS))
for _, process in ipairs(processes) do send(inboxes .. process, '', 'lanes ' .. name) end
return 1
