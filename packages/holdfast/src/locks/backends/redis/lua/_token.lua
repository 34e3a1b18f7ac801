--[[
Tokens: numbers that rise with every grant of a name, and do not fall when a server loses its data, because they follow
its clock. A token is written as 16 digits, in microseconds; as text they sort as numbers do.
]]
-- Exact below 2^53; %.0f because %d stops at 2^31 where long has 32 bits.
local function text(number)
  return string.format('%.0f', number)
end

local function digits(number)
  return string.format('%016.0f', number)
end

-- How long the last token, top, is kept after a lease: 24 h, or until the clock has moved past it.
local function keep_ms(top, now)
  return 86400000 + math.ceil(math.max(top - tonumber(now), 0) / 1000)
end

-- Larger than top, the highest token that was handed out or reserved before.
local function next_token(lock, top, now, min_fence)
  local token = math.max(tonumber(now), tonumber(min_fence))
  if token <= top then token = top + 1 end -- guard: token rises
  if token > 9007199254000000 then error({ err = 'ERR the tokens of this lock are used up, delete its key: ' .. lock }) end
  return token
end
