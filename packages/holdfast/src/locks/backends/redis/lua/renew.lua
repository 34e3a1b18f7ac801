--[[
renew: extend many leases at once, each only while its holder still holds it.

KEYS[1..n]  lock  string  see _state.lua
ARGV[1..n]  id    string  the request that holds each, in the order of KEYS

Returns  {1, 0 or -1, ..., id}  for each: 1 renewed, for its ttl from now; 0 no longer this holder's; -1 nothing
                              is known of this lock, although its last token is kept for a day; the first id
Raises   nothing of its own: a foreign value or type under a key counts as 0

Retry    safe: never creates a lease, never extends another holder's
Clock    the server's, through the expiry of the keys
Cost     O(n), 2 commands per lease, 3 where somebody may wait; writes no value, so that a server without memory allows it
]]
--- @include "../../../../redis/lua/_rights.lua"
--- @rights KEYS[1]
local outcomes = {}
for place = 1, #KEYS do
  local lock, id = KEYS[place], ARGV[place]
  local held = redis.pcall('GET', lock)
  outcomes[place] = held and 0 or -1
  -- The id, and behind it token, since, keep_ms and ttl_ms: see _state.lua. A lease that lapsed, and that
  -- nobody took since, may go on, unless somebody may be waiting for it.
  if type(held) == 'string' and string.sub(held, 18, 18 + #id) == id .. ' ' then
    local keep_ms, ttl_ms = string.match(held, '^%d+ %d+ (%d+) (%d+) ', 19 + #id)
    if ttl_ms and (string.sub(held, 17, 17) == ' ' or redis.call('PTTL', lock) > tonumber(keep_ms)) then
      outcomes[place] = redis.call('PEXPIRE', lock, keep_ms + ttl_ms)
    end
  end
end
outcomes[#KEYS + 1] = ARGV[1]
return outcomes
