--[[
places: where messages are in their lanes. Changes nothing.

KEYS[1]      main       see _lanes.lua
KEYS[2]      rec        see _lanes.lua
KEYS[3]      later      see _lanes.lua
KEYS[4]      again      see _lanes.lua
KEYS[5]      cancelled  see _lanes.lua
ARGV[1..2n]  tickets    for each its number, 16 digits, and its lane

Returns  a row for each: {state, position, ahead, mean_us, since_us, parked_ms, outcome}
         state      w: it waits; r: it is in flight; c: it was cancelled, and has not had its turn; o: it is over, or was never pushed
         position   1: it is the next one that waits
         ahead      messages of the lane before it that are not over
         mean_us    between two deliveries of the lane; -1: unknown
         since_us   since the last delivery of the lane; -1: there was none since it was last empty
         parked_ms  until the lane goes on; 0: it is not parked; -1: somebody paused it
         outcome    only of o, where one is kept: see deliveries/lua/_deliveries.lua
Raises   WRONGTYPE  another program owns a key

Retry    safe
Clock    the server's, read once
Cost     O(log n) for each
]]

--- @include "../../deliveries/lua/_about.lua"
--- @include "_rec.lua"
local q = { about = KEYS[1], rec = KEYS[2], later = KEYS[3], again = KEYS[4], cancelled = KEYS[5] }
view_lanes(q)

-- Whether it came back and waits: `kind` as in `again`.
local function is_again(kind, rec, number)
  local from = kind .. ' ' .. rec.name .. ' ' .. number
  return redis.call('ZLEXCOUNT', q.again, '[' .. from .. ' ', '(' .. from .. '!') == 1
end

local function smaller_again(kind, rec, number)
  local from = kind .. ' ' .. rec.name .. ' '
  return redis.call('ZLEXCOUNT', q.again, '[' .. from, '(' .. from .. number)
end

local function smaller_out(rec, number)
  local count = 0
  for other in string.gmatch(rec.out, '%d+') do
    if other < number then count = count + 1 end
  end
  return count
end

local function row(state, rec, position, ahead, parked_ms)
  return {
    state, position, ahead, rec.mean ~= '0' and tonumber(rec.mean) or -1,
    rec.seen ~= '0' and math.max(0, q.us - tonumber(rec.seen)) or -1, parked_ms,
  }
end

local function parked_ms(rec)
  if q.paused or rec.paused then return -1 end
  return rec.till > 0 and math.max(0, math.ceil(rec.till - q.ms)) or 0
end

local function over(name, number)
  local outcome = redis.call('GET', q.about .. ':result:' .. number .. '@' .. name)
  return { 'o', 0, 0, -1, -1, 0, outcome or nil }
end

-- It is in the list.
local function in_list(rec, number)
  local before = tonumber(number) - tonumber(rec.next)
  if before >= length_of(q, rec) then return over(rec.name, number) end
  if rec.cancelled > 0 then
    local member = rec.name .. ' ' .. number
    if redis.call('ZSCORE', q.cancelled, member) then return row('c', rec, 0, 0, 0) end
    before = before - redis.call('ZLEXCOUNT', q.cancelled, '[' .. rec.name .. ' ' .. rec.next, '(' .. member)
  end
  before = before + rec.returned
  return row('w', rec, before + 1, before + rec.out_count + rec.later, parked_ms(rec))
end

-- It was delivered before.
local function delivered(rec, number)
  if string.find(rec.out, number, 1, true) then return row('r', rec, 0, 0, 0) end
  local is_next = rec.returned > 0 and is_again('r', rec, number)
  if not is_next and not (rec.later > 0 and is_again('w', rec, number)) then return over(rec.name, number) end
  local before, held_ms = smaller_again('r', rec, number), parked_ms(rec)
  local ahead = before + smaller_again('w', rec, number) + smaller_out(rec, number)
  if not is_next and held_ms >= 0 then
    local due_ms = tonumber(redis.call('ZSCORE', q.later, 'back:' .. number .. ':' .. rec.name) or 0)
    held_ms = math.max(held_ms, math.ceil(due_ms - q.ms))
  end
  return row('w', rec, before + 1, ahead, held_ms)
end

local rows, names = {}, {}
for place = 2, #ARGV, 2 do names[#names + 1] = ARGV[place] end
load_recs(q, names)
for place, name in ipairs(names) do
  local number, rec = ARGV[2 * place - 1], rec_of(q, name)
  if not rec then
    rows[place] = over(name, number)
  elseif number >= rec.next then
    rows[place] = in_list(rec, number)
  else
    rows[place] = delivered(rec, number)
  end
end
return rows
