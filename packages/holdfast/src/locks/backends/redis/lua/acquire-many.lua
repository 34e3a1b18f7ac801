--[[
acquire-many: many locks at once, each only if it is free and nobody stands in line for it. What it does not take
it leaves as it is, and says what it saw: `acquire` goes on from there.

KEYS[1..n]  lock   string   see _state.lua
ARGV[1]     terms  string   "<keep_ms> <ttl_ms> <owner>", the end of each state
ARGV[2]     turns  integer  tokens to reserve for each, 1 .. 1000
ARGV[3]     px     integer  keep_ms and ttl_ms together
ARGV[4..n]  ids    string   of the requests, in the order of KEYS

Returns  {seen, ..., now}  seen is token (16 digits) and id where the lock was taken; {state, left_ms} where it
                           was not; "" where its key holds something else. now: 16 digits
         seen              alone, where only one was asked for and it was taken
Raises   nothing of its own

Retry    safe: a repeat sees its own id in the state of the lock
Clock    the server's, read once
Cost     O(n), 2 commands per lock
]]
local terms, turns, px = ARGV[1], ARGV[2], ARGV[3]
local time = redis.call('TIME')
local now = string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
local top = turns == '1' and now or string.format('%016.0f', tonumber(now) + tonumber(turns) - 1)
terms = ' ' .. now .. ' ' .. now .. ' ' .. terms
local seen = {}
for place = 1, #KEYS do
  local lock = KEYS[place]
  local state = redis.pcall('GET', lock)
  -- Free, uncrowded, and its last token behind the clock.
  -- mutation: cost (never), because what this script leaves, `acquire` takes
  if not state or (#state == 17 and string.find(state, '^%d+ $') and string.sub(state, 1, 16) < now) then
    redis.call('SET', lock, top .. ' ' .. ARGV[place + 3] .. terms, 'PX', px)
    seen[place] = now .. ARGV[place + 3]
  -- mutation: cost (never), because `acquire` looks again
  elseif type(state) == 'string' then
    local keep_ms = tonumber(string.match(string.sub(state, 18), '^%S+ %d+ %d+ (%d+) ')) or 0
    seen[place] = { state, redis.call('PTTL', lock) - keep_ms }
  else
    seen[place] = ''
  end
end
-- mutation: cost (never), because the longer reply says the same
if #KEYS == 1 and type(seen[1]) == 'string' and seen[1] ~= '' then return seen[1] end
seen[#KEYS + 1] = now
return seen
