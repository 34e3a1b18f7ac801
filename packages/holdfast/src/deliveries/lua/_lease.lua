--[[
The first lease of a delivery, until its process extends it. Its deadline ends in .5, as `away` of _deliveries.lua says.
q.first_lease_ms  not below the time that a process waits for an answer
]]
local function first_deadline(q)
  return string.format('%.1f', q.ms + q.first_lease_ms + 0.5)
end
