--[[
latch-count-down: count a latch down. The first use gives it its size.

KEYS[1]  latch    hash    see _latch.lua
KEYS[2]  request  string  what this request returned; lives for a minute
ARGV[1]  channel  string  of the latch; it hears of the opening only
ARGV[2]  place    string  see redis/lua/_message.lua
ARGV[3]  size     integer the count with which the caller expects it to begin
ARGV[4]  keep_ms  integer life of the key from now on; 0: for ever
ARGV[5]  n        integer how much to count down, at least 1
ARGV[6]  by       string  the party, which counts once in a generation; empty: nobody in particular

Returns  {1, left, counted}  counted: 1, or 0 when it was open already or the party had counted
         {0, size}           it has another size; nothing was written
Raises   WRONGTYPE           another program owns a key; nothing was written

Retry    safe for a minute: a copy returns the same and changes nothing
Clock    the server's, read once
Cost     O(1), and the listeners of the channel when it opens; 8 commands
]]
local latch, request = KEYS[1], KEYS[2]
local channel, place, size, keep_ms, n, by = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

--- @include "../../redis/lua/_clock.lua"
--- @include "../../redis/lua/_version.lua"
--- @include "_fields.lua"
--- @include "_latch.lua"
local now = read_clock()
local state = read_latch(latch)
local done = redis.call('GET', request)
if done then
  local left, counted = string.match(done, '^(%d+) (%d)$')
  return {1, tonumber(left), tonumber(counted)}
end
local is_new = state[4] == ''
if not is_new and state[4] ~= size then return {0, tonumber(state[4])} end

local version = next_version(state[1], now)
if is_new then state = { version, version, NEVER, size, size } end
local left, counted = tonumber(state[5]), 0
local has_counted = by ~= '' and redis.call('HEXISTS', latch, 'by:' .. by) == 1
--- @include "../../redis/lua/_rights.lua"
--- @rights latch
if left > 0 and not has_counted then
  left, counted = math.max(left - tonumber(n), 0), 1
  state[1], state[5] = version, string.format('%.0f', left)
  if left == 0 then state[3] = state[2] end
  write_latch(latch, state)
  if by ~= '' then redis.call('HSET', latch, 'by:' .. by, '1') end
end
prolong(latch, keep_ms, is_new)
redis.call('SET', request, string.format('%.0f %.0f', left, counted), 'PX', REQUEST_MS)
if counted == 1 and left == 0 then send(channel, place, table.concat(state, ' ')) end
return {1, left, counted}
