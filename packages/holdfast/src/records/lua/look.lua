--[[
look: reads the state of many records at once. Changes nothing.

KEYS[1..n]  records  hashes, see _record.lua
ARGV[1]     most     bytes of a value that is told; of a larger one only its size

Returns  {now, {ttl_ms, size, version or '', fence or '', value}, ...}
         now     us of the server's clock
         ttl_ms  until the key expires; -1: never; -2: there is no key
         size    bytes of the value; 0: there is none
         value   absent where there is none, or where it is larger than that
         a row is empty where another program owns the key
Raises   NOPERM and the like; nothing for a foreign type

Retry    safe
Clock    the server's, read once
Cost     O(n) and the bytes of the values, 2 commands each
]]
--- @include "../../redis/lua/_clock.lua"
local most = tonumber(ARGV[1])

local function row_of(key)
  local fields = redis.pcall('HMGET', key, 'version', 'fence', 'value')
  if fields.err then
    if string.find(fields.err, 'WRONGTYPE') then return {} end
    error(fields)
  end
  local value = fields[3] or ''
  local row = { redis.call('PTTL', key), #value, fields[1] or '', fields[2] or '' }
  if #value > 0 and #value <= most then row[5] = value end
  return row
end

local rows = { read_clock() }
for place, key in ipairs(KEYS) do rows[place + 1] = row_of(key) end
return rows
