--[[
renew: extends many leases at once, each only while its holder still has its permits.

KEYS[1..n]  permits  hash    see _permits.lua
ARGV[1..n]  id       string  the request that holds each, in the order of KEYS

Returns  {1, 0 or -1, ..., id}  for each: 1 renewed, for its ttl from now; 0 no longer this holder's; -1 nothing is known of these
                                permits, although their last token is kept for a day; the first id
Raises   nothing of its own: a foreign value or type under a key counts as 0

Retry    safe: never creates a lease, never extends another holder's
Clock    the server's, read once
Cost     O(n), 4 commands per lease. The first write takes no memory, so that a full server allows the others
]]
--- @include "../../../../../redis/lua/_clock.lua"
--- @include "../../lua/_token.lua"
local now = read_clock()
local ms = math.floor(tonumber(now) / 1000)
--- @include "../../../../../redis/lua/_rights.lua"
--- @rights KEYS[1]
local outcomes = {}
for place = 1, #KEYS do
  local permits, id = KEYS[place], ARGV[place]
  local values = redis.pcall('HMGET', permits, '.', id)
  local head, lease = not values.err and values[1] or nil, not values.err and values[2] or nil
  outcomes[place] = (values.err or head) and 0 or -1
  local end_ms, rest, ttl_ms = string.match(lease or '', '^(%d+)( %d+ %d+ %d+ (%d+) .*)$')
  -- A lease that is over, and that no sweep has found, still has its permits. It may go on, unless somebody may be waiting.
  if string.find(head or '', '^%d') and end_ms and (tonumber(end_ms) > ms or string.sub(head, 18, 18) == '0') then
    local keep = keep_ms(string.sub(head, 1, 16), now) + tonumber(ttl_ms)
    redis.call('PEXPIRE', permits, text(math.max(redis.call('PTTL', permits), keep)))
    redis.call('HSET', permits, id, text(ms + tonumber(ttl_ms)) .. rest)
    outcomes[place] = 1
  end
end
outcomes[#KEYS + 1] = ARGV[1]
return outcomes
