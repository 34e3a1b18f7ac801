--[[
reset: deletes everything of all lanes, but for outcomes, which stay for their time, and the largest number where the clock is not beyond it.
Processes with free places take again.

KEYS[1..10]  about, rec, ready, off, away, idle, later, again, cancelled, held   see _lanes.lua
KEYS[11..12] dead, letters                               see _lanes.lua
ARGV[1]      name      of the lanes, without blanks
ARGV[2]      inboxes   see deliveries/lua/_deliveries.lua

Returns  1 all is deleted; 0 the bodies of some lanes are: go on
Raises   nothing: keys of another program under these names are deleted as well

Retry    safe
Clock    the server's, read once
Cost     O(n) with n lanes; at most 1,000 of them in one call, each of which ends with fewer lanes
]]
--- @include "../../redis/lua/_message.lua"
--- @include "../../deliveries/lua/_heard.lua"
--- @include "../../deliveries/lua/_reset.lua"
local about, rec, idle, name, inboxes = KEYS[1], KEYS[2], KEYS[6], ARGV[1], ARGV[2]
-- Any lanes do: HSCAN from its beginning finds none where those there are gone.
local found, last = redis.pcall('HRANDFIELD', rec, 1000, 'WITHVALUES'), largest_of(about)
--- @include "../../redis/lua/_rights.lua"
--- @rights about
-- The numbers of a list go on from that of its record.
local function last_of(list, record)
  local first, length = tonumber(string.match(record, '^%d+')), redis.pcall('LLEN', list)
  return sane(first and type(length) == 'number' and first + length - 1)
end

if found.err and not string.find(found.err, 'WRONGTYPE') then error(found) end
if not found.err then
  local lanes = {}
  for place = 1, #found, 2 do
    local lane = found[place]
    local list = about .. ':lane:' .. lane
    lanes[#lanes + 1] = lane
    last = math.max(last, last_of(list, found[place + 1]))
    redis.call('UNLINK', list)
  end
  if lanes[1] then redis.call('HDEL', rec, unpack(lanes)) end
  if redis.call('EXISTS', rec) == 1 then
    keep_largest(about, last)
    return 0
  end
end
local processes = redis.pcall('ZRANGE', idle, 0, -1)
redis.call('UNLINK', heard_key({ about = about }), unpack(KEYS))
go_on_after(about, last)
for _, process in ipairs(processes) do send(inboxes .. process, '', 'lanes ' .. name) end
return 1
