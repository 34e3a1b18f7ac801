--[[
peek: the next messages of a lane that wait and are not cancelled. Changes nothing.

KEYS[1]      about      see _lanes.lua
KEYS[2]      rec        see _lanes.lua
KEYS[3]      off        see _lanes.lua
KEYS[4]      again      see _lanes.lua
KEYS[5]      cancelled  see _lanes.lua
ARGV[1]      lane
ARGV[2]      count     integer: at most 1,000

Returns  {number, body, number, body, ...}  fewer than count also where thousands of cancelled ones are among them, or where the bodies reach 256 kB
Raises   WRONGTYPE where another program owns a key

Retry    safe
Clock    the server's, read once
Cost     O(n + log m) with m messages of the lane
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_bytes.lua"
--- @include "_rec.lua"
local q = { about = KEYS[1], rec = KEYS[2], off = KEYS[3], again = KEYS[4], cancelled = KEYS[5] }
local name, count = ARGV[1], tonumber(ARGV[2])
view_lanes(q)
local rec, found = rec_of(q, name), {}
if not rec then return found end

local bytes = 0

local function add(number, body)
  found[#found + 1] = number
  found[#found + 1] = body
  bytes = bytes + #body
end

local function is_enough()
  return #found >= 2 * count or bytes >= MOST_BYTES
end

local function add_returned()
  for _, member in ipairs(redis.call('ZRANGEBYLEX', q.again, '[r ' .. name .. ' ', '(r ' .. name .. '!', 'LIMIT', 0, count)) do
    local number = string.match(member, ' (%d+) %d+!?$')
    local body = redis.call('HGET', q.off, 'back:' .. number .. ':' .. name)
    if body then add(number, body) end
    if is_enough() then return end
  end
end

-- Places of cancelled messages in the list, from `at` on.
local function cancelled_from(at, upto)
  local is_cancelled = {}
  if rec.cancelled == 0 then return is_cancelled end
  local first, last = '[' .. name .. ' ' .. digits(tonumber(rec.next) + at), '(' .. name .. ' ' .. digits(tonumber(rec.next) + upto)
  for _, member in ipairs(redis.call('ZRANGEBYLEX', q.cancelled, first, last)) do is_cancelled[member] = true end
  return is_cancelled
end

local LOOKED_AT = 500
add_returned()
local at, is_cancelled, known_upto, length = 0, {}, 0, length_of(q, rec)
while not is_enough() and at < math.min(length, count + 5000) do
  if at == known_upto then
    known_upto = at + LOOKED_AT
    is_cancelled = cancelled_from(at, known_upto)
  end
  local number = digits(tonumber(rec.next) + at)
  -- One by one: how large the bodies are is known when they are read.
  if not is_cancelled[name .. ' ' .. number] then add(number, (of_list(redis.pcall('LRANGE', list_key(q, rec.name), at, at)) or {})[1] or '') end
  at = at + 1
end
return found
