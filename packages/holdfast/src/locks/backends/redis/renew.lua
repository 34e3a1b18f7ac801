--[[
renew: extend many leases at once, each only while its holder still holds it.

KEYS[1..n]   lock of each lease
ARGV[1..2n]  id and ttl_ms of each lease, in the order of KEYS

Returns  {1 or 0, ...}  for each: 1 renewed for ttl_ms from now, 0 no longer this holder's
Raises   nothing of its own: a foreign value or type under a key counts as 0

Retry    safe: never creates a lease, never extends another holder's
Clock    the server's, through PEXPIRE
Cost     O(n), 2 commands per lease
]]
local outcomes = {}
for place = 1, #KEYS do
  local lock, id, ttl_ms = KEYS[place], ARGV[2 * place - 1], ARGV[2 * place]
  local held = redis.pcall('GET', lock)
  local mine = type(held) == 'string' and string.sub(held, 1, #id + 1) == id .. ' '
  outcomes[place] = mine and redis.call('PEXPIRE', lock, ttl_ms) or 0
end
return outcomes
