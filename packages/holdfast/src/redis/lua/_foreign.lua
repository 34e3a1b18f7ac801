--[[
Values under the keys of holdfast that this version does not read. A family of scripts that changes its layout takes the next number, from 2
on, and then the value that each of them reads before its first write begins with "@<layout> "; without that it is of layout 1. foreign.ts
reads the same.
]]
-- Raises LAYOUT for a value of another version of holdfast, WRONGTYPE for that of another program.
local function foreign(key, value)
  local layout = value and string.match(value, '^@(%d+) ')
  error({ err = layout and 'LAYOUT ' .. key .. ' has layout ' .. layout .. ', and this version reads layout 1'
    or 'WRONGTYPE another program owns the key ' .. key })
end
