--[[
peek: the next messages of a lane that wait and are not cancelled. Changes nothing.

KEYS[1]      about      see _lanes.lua
KEYS[2]      rec        see _lanes.lua
KEYS[3]      off        see _lanes.lua
KEYS[4]      again      see _lanes.lua
KEYS[5]      cancelled  see _lanes.lua
ARGV[1]      lane
ARGV[2]      count     integer: at most 1,000

Returns  {number, body, number, body, ...}  fewer than count also where thousands of cancelled ones are among them
Raises   WRONGTYPE where another program owns a key

Retry    safe
Clock    the server's, read once
Cost     O(n + log m) with m messages of the lane
]]
--- @include "../../queues/lua/_about.lua"
--- @include "_rec.lua"
local q = { about = KEYS[1], rec = KEYS[2], off = KEYS[3], again = KEYS[4], cancelled = KEYS[5] }
local name, count = ARGV[1], tonumber(ARGV[2])
view_lanes(q)
local rec, found = rec_of(q, name), {}
if not rec then return found end

local function add(number, body)
  if body and #found < 2 * count then
    found[#found + 1] = number
    found[#found + 1] = body
  end
end

local again = redis.call('ZRANGEBYLEX', q.again, '[r ' .. name .. ' ', '(r ' .. name .. '!', 'LIMIT', 0, count)
for _, member in ipairs(again) do
  local number = string.match(member, ' (%d+) %d+$')
  add(number, redis.call('HGET', q.off, 'back:' .. number .. ':' .. name))
end
local at, looked, first = 0, 0, tonumber(rec.next)
while #found < 2 * count and looked < count + 5000 do
  local bodies = redis.call('LRANGE', list_key(q, rec.name), at, at + count - 1)
  if #bodies == 0 then break end
  local from, upto = '[' .. name .. ' ' .. digits(first + at), '(' .. name .. ' ' .. digits(first + at + #bodies)
  local is_cancelled = {}
  if rec.cancelled > 0 then
    for _, member in ipairs(redis.call('ZRANGEBYLEX', q.cancelled, from, upto)) do is_cancelled[member] = true end
  end
  for place, body in ipairs(bodies) do
    local number = digits(first + at + place - 1)
    if not is_cancelled[name .. ' ' .. number] then add(number, body) end
  end
  at, looked = at + #bodies, looked + #bodies
end
return found
