--[[
The first lease of a delivery, until its process extends it. Its deadline ends in .5, as `away` of _deliveries.lua says.
]]
local FIRST_LEASE_MS = 3000

local function first_deadline(q)
  return string.format('%.1f', q.ms + FIRST_LEASE_MS + 0.5)
end
