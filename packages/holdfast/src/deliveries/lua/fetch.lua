--[[
fetch: reads the bodies of deliveries. Changes nothing.

KEYS[1]  off  hash  see _deliveries.lua
ARGV[1..n] handles

Returns  {body, ...}  of the first of them, at least one; '' where the delivery is over
Raises   WRONGTYPE where another program owns a key

Retry    safe
Clock    none
Cost     O(n). Stops after the first that brings the bodies to 256 kB
]]
--- @include "../../redis/lua/_checked.lua"
--- @include "_bytes.lua"
local off = KEYS[1]
local bodies, bytes = {}, 0
for place, handle in ipairs(ARGV) do
  local body = checked(off, redis.pcall('HGET', off, handle)) or ''
  bodies[place], bytes = body, bytes + #body
  if bytes >= MOST_BYTES then break end
end
return bodies
