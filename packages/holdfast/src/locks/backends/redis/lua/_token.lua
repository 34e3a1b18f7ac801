--[[
Tokens: numbers that rise with every grant of a name, and do not fall when a server loses its data, because they follow
its clock. A token is 16 digits, in microseconds. It stays text, which sorts as the numbers do: Lua's own numbers are exact
below 2^53 only.
]]
--- @include "../../../../redis/lua/_foreign.lua"
-- %.0f because %d stops at 2^31 where long has 32 bits.
local function text(number)
  return string.format('%.0f', number)
end

-- The 16 digits of a whole number that is text. Fails where it has more, or is none.
local function digits(lock, number)
  if #number > 16 or not string.find(number, '^%d+$') then
    error({ err = 'ERR a token has at most 16 digits: ' .. lock })
  end
  return string.rep('0', 16 - #number) .. number
end

-- The sum of a token and a small number, exactly: each half of the digits fits into a number.
local function add(lock, token, count)
  local low = tonumber(string.sub(token, 9)) + count
  local high = tonumber(string.sub(token, 1, 8)) + math.floor(low / 100000000)
  if high > 99999999 then error({ err = 'ERR the tokens of this lock are used up, delete its key: ' .. lock }) end
  return string.format('%08.0f%08.0f', high, low % 100000000)
end

-- How long the last token, top, is kept after a lease: 24 h, or until the clock has moved past it.
local function keep_ms(top, now)
  return 86400000 + math.ceil(math.max(tonumber(top) - tonumber(now), 0) / 1000)
end

-- Larger than top, the highest token that was handed out or reserved before.
local function next_token(lock, top, now, min_fence)
  local token = now
  if min_fence ~= '0' then
    local least = digits(lock, min_fence)
    if least > token then token = least end
  end
  if token <= top then token = add(lock, top, 1) end -- guard: token rises
  return token
end
