--[[
confirm: raise the last token of many locks, each only where it is still held under the very grant that the caller counted. A
grant over several servers has the largest of their tokens, and every server of its quorum must then hand out larger ones.

KEYS[1..n]   lock   string   see _state.lua
ARGV[1..3n]  id, stamp, last of each lock in turn, in the order of KEYS: the request that holds it, the token that this server
                    granted to it, and the last token that the quorum reserves. Tokens are decimal.

Returns  {1 or 0, ..., id}  for each: 1 the lock is held so, and tokens to come are larger than last; 0 it is not. The first id
Raises   nothing of its own: a foreign value or type under a key, or a server that refuses the write, counts as 0

Retry    safe: a repeat returns 1 while the grant lasts, and 0 later; a late copy raises nothing under another grant
Clock    the server's, read once, and through the expiry of the keys
Cost     O(n), 3 commands per lock; moves no lease
]]
--- @include "../../../../redis/lua/_clock.lua"
--- @include "../../redis/lua/_token.lua"
--- @include "../../redis/lua/_state.lua"
local now = read_clock()

local function confirm(lock, id, stamp, last)
  local state = read_lock(lock)
  -- Each grant of this server has a larger token, so that the same token means that nobody else held the lock in between.
  if state.left_ms == 0 or state.id ~= id or state.token ~= digits(lock, stamp) then return 0 end -- guard: one unbroken hold
  last = digits(lock, last)
  if last <= state.top then return 1 end
  local keep = text(math.max(keep_ms(last, now), state.keep_ms))
  local since, ttl_ms, owner = string.match(state.held, '^%S+ %d+ (%d+) %d+ (%d+) (.*)$', 18)
  local held = last .. state.flag .. id .. ' ' .. state.token .. ' ' .. since .. ' ' .. keep .. ' ' .. ttl_ms .. ' ' .. owner
  redis.call('SET', lock, held, 'PX', text(keep + state.left_ms))
  return 1
end

--- @include "../../../../redis/lua/_rights.lua"
--- @rights KEYS[1]
local outcomes = {}
for place = 1, #KEYS do
  local ok, outcome = pcall(confirm, KEYS[place], ARGV[3 * place - 2], ARGV[3 * place - 1], ARGV[3 * place])
  outcomes[place] = ok and outcome or 0
end
outcomes[#KEYS + 1] = ARGV[1]
return outcomes
