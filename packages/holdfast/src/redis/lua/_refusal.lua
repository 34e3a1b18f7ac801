--[[
For scripts that read many names, and say of each that cannot be read why. A function costs the quick scripts too much to have it too.
]]
--- @include "_foreign.lua"
-- The text of such an error. Raises every other one again: a command that this user may not use is an error of the call.
local function refusal_of(problem)
  local text = type(problem) == 'table' and problem.err or tostring(problem)
  if not string.find(text, 'WRONGTYPE') and not string.find(text, '^LAYOUT') then error(problem, 0) end
  return text
end
