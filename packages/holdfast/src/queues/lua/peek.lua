--[[
peek: reads the messages that come next, in the order in which they would be taken. Changes nothing.

KEYS[1..7]  about, line, off, away, idle, later, again   see _queue.lua
ARGV[1]   count  integer, at most 1,000

Returns  {id, body, attempts, ...}  attempts: the deliveries that the message had
Raises   WRONGTYPE where another program owns a key

Retry    safe
Clock    the server's, read once
Cost     O(n) with n the messages read. Stops after the first that brings the bodies to 256 kB
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_queue.lua"
local q = {
  about = KEYS[1], line = KEYS[2], off = KEYS[3], away = KEYS[4], idle = KEYS[5], later = KEYS[6], again = KEYS[7],
}
local count = tonumber(ARGV[1])
open(q, '')
check(q)
local is_lifo, seen, bytes = q.order == 'lifo', {}, 0

local function add(number, body, attempts)
  seen[#seen + 1], seen[#seen + 2], seen[#seen + 3] = number, body, attempts
  bytes = bytes + #body
  return bytes < MOST_BYTES and #seen < 3 * count
end

local function add_returned()
  local range = { 'ZRANGE', q.again, 0, count - 1 }
  if is_lifo then range[5] = 'REV' end
  for _, member in ipairs(redis.call(unpack(range))) do
    local number, attempts = string.match(member, '^%a+:(%d+):(%d+)!?$')
    local body = redis.call('HGET', q.off, member)
    if number and body and not add(number, body, tonumber(attempts)) then return false end
  end
  return true
end

local function add_waiting()
  for place = 0, math.min(count, q.in_line) - 1 do
    local at = is_lifo and -2 * place - 2 or 2 * place
    local pair = redis.call('LRANGE', q.line, at, at + 1)
    if not pair[2] or not add(pair[1], pair[2], 0) then return end
  end
end

if add_returned() then add_waiting() end
return seen
