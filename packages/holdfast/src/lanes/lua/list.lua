--[[
list: the state of some lanes. Changes nothing.

KEYS[1]      about     see _lanes.lua
KEYS[2]      rec       see _lanes.lua
ARGV[1]      cursor    where to go on: 0 at first; '' for the lanes that are named
ARGV[2]      count     integer: about this many lanes
ARGV[3..n]   lanes     those to look at

Returns  {cursor, row, row, ...}
         cursor  '0': these were the last
         row     {lane, waiting, delayed, in_flight, paused, parked_ms, limit, mean_us, since_us}; of a lane without a record all are 0
Raises   WRONGTYPE where another program owns a key

Retry    safe
Clock    the server's, read once
Cost     O(n)
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "_rec.lua"
local q = { about = KEYS[1], rec = KEYS[2] }
local cursor, count = ARGV[1], ARGV[2]
view_lanes(q)

local function row_of(name, rec)
  if not rec then return { name, 0, 0, 0, 0, 0, 0, -1, -1 } end
  return {
    name, math.max(0, length_of(q, rec) - rec.cancelled + rec.returned), rec.later, rec.out_count, rec.paused and 1 or 0,
    rec.till > 0 and math.max(0, math.ceil(rec.till - q.ms)) or 0, rec.limit, rec.mean ~= '0' and tonumber(rec.mean) or -1,
    rec.seen ~= '0' and math.max(0, q.us - tonumber(rec.seen)) or -1,
  }
end

local reply = { '0' }
if cursor == '' then
  local names = { unpack(ARGV, 3) }
  load_recs(q, names)
  for place, name in ipairs(names) do reply[place + 1] = row_of(name, rec_of(q, name)) end
else
  local found = checked(q.rec, redis.pcall('HSCAN', q.rec, cursor, 'COUNT', count))
  reply[1] = found[1]
  for place = 1, #found[2], 2 do
    reply[#reply + 1] = row_of(found[2][place], parse_rec(found[2][place], found[2][place + 1]))
  end
end
return reply
