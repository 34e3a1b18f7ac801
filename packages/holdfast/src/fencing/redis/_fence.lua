--[[
The rule of a fence. Tokens are compared as decimal text, so that those of stores which count beyond
2^53 stay exact. An equal token passes only for the holder that brought it: two masters that both served
a split brain may have handed out the same number.
]]
local function older(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

-- The token that refuses this one, or nil and the record's value.
local function refused_by(record, token, holder)
  local stored = redis.call('HMGET', record, 'token', 'holder', 'value')
  local seen, by, value = stored[1], stored[2], stored[3]
  if seen and not string.match(seen, '^%d+$') then
    error('the key of this record holds something else: choose another name or prefix')
  end
  if seen and (older(token, seen) or (token == seen and by ~= holder)) then return seen end
  return nil, value
end
