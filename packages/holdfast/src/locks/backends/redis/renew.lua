--[[
renew: extend many leases at once, each only while its holder still holds it.

KEYS[1..n]  lock  string  see _state.lua
ARGV[1..n]  id    string  the request that holds each, in the order of KEYS

Returns  {1 or 0, ...}  for each: 1 renewed, for its ttl from now; 0 no longer this holder's
Raises   nothing of its own: a foreign value or type under a key counts as 0

Retry    safe: never creates a lease, never extends another holder's
Clock    the server's, through the expiry of the keys
Cost     O(n), 3 commands per lease; writes no value, so that a server without memory allows it
]]
--- @include "_state.lua"
local outcomes = {}
for place = 1, #KEYS do
  local known, state = pcall(read_lock, KEYS[place])
  local mine = known and state.id == ARGV[place] and state.left_ms > 0
  if mine then renew(KEYS[place], state) end
  outcomes[place] = mine and 1 or 0
end
return outcomes
