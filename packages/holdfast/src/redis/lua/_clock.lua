--[[
The server's clock in microseconds, as 16 digits: as text they sort as numbers do. Read once per script.
]]
local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
