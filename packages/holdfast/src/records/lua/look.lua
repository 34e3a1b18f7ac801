--[[
look: reads the state of many records at once. Changes nothing.

KEYS[1..n]  records  hashes, see _record.lua
ARGV[1]     most     bytes of a value that is told; of a larger one only its size

Returns  {now, {ttl_ms, size, version or '', fence or '', value}, ...}
         now     us of the server's clock
         ttl_ms  until the value is over, or the key where there is none; -1: never; -2: there is no key
         size    bytes of the value; 0: there is none
         value   absent where there is none, or where it is larger than that
         in place of a record that cannot be read the text of the error: see redis/lua/_foreign.lua
Raises   NOPERM and the like

Retry    safe
Clock    the server's, read once
Cost     O(n) and the bytes of the values, 3 commands each
]]
--- @include "../../redis/lua/_clock.lua"
--- @include "../../redis/lua/_refusal.lua"
--- @include "_record.lua"
local most = tonumber(ARGV[1])

local now = read_clock()

local function row_of(key)
  local record = read_record(key, now)
  local value = value_of(key, record) or ''
  local ttl_ms = redis.call('PTTL', key)
  if #value > 0 and record.ends_ms then ttl_ms = math.ceil(record.ends_ms - record.now_ms) end
  local row = { ttl_ms, #value, record.version or '', record.fence or '' }
  if #value > 0 and #value <= most then row[5] = value end
  return row
end

local rows = { now }
for place, key in ipairs(KEYS) do
  local is_read, row = pcall(row_of, key)
  rows[place + 1] = is_read and row or refusal_of(row)
end
return rows
