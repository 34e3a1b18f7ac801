--[[
What outlives a reset: no number is given out twice, and so the largest one stays where the clock is not beyond it.
]]
--- @include "../../redis/lua/_clock.lua"
--- @include "_last.lua"
-- A year of numbers.
local FEW = 31536000000000

-- 0: not a number of ours, or the numbers are nearly used up, for which a reset is the cure.
local function sane(number)
  return number and number <= LARGEST - FEW and number or 0
end

-- The largest number that was given out; 0: it is lost.
local function largest_of(about)
  local last = redis.pcall('HGET', about, 'last')
  return sane(type(last) == 'string' and tonumber(last))
end

local function keep_largest(about, last)
  redis.pcall('HSET', about, 'last', string.format('%016.0f', last))
end

-- After all was deleted.
local function go_on_after(about, last)
  if last >= tonumber(read_clock()) then keep_largest(about, last) end
end
