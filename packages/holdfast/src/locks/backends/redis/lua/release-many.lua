--[[
release-many: many leases back at once, each only where nobody stands in line. Where somebody may, it is left as
it is: `release` goes on from there.

KEYS[1..n]  lock  string  see _state.lua
ARGV[1..n]  id    string  the request that holds each, in the order of KEYS

Returns  {1 or 0, ...}  for each: 1 the lease ended and the lock is free, 0 not done
Raises   nothing of its own: a foreign value or type under a key counts as 0

Retry    safe: a repeat counts as 0
Clock    none
Cost     O(n), 2 commands per lock
]]
local outcomes = {}
for place = 1, #KEYS do
  local lock, id = KEYS[place], ARGV[place]
  local held = redis.pcall('GET', lock)
  if type(held) == 'table' and not string.find(held.err, 'WRONGTYPE') then error(held) end
  local mine = type(held) == 'string' and string.sub(held, 17, 18 + #id) == ' ' .. id .. ' '
  if mine then redis.call('SET', lock, string.sub(held, 1, 17), 'KEEPTTL') end
  outcomes[place] = mine and 1 or 0
end
return outcomes
