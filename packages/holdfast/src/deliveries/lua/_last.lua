--[[
The field `last` of _about.lua, by which every script of a queue or of lanes knows the layout.
]]
--- @include "../../redis/lua/_checked.lua"
-- Beyond it a number is not exact.
local LARGEST = 9007199200000000

-- Raises before anything is written. last: where it was read before.
local function read_last(about, last)
  if last == nil then last = checked(about, redis.pcall('HGET', about, 'last')) end
  return tonumber(last or '0') or foreign(about, last)
end
