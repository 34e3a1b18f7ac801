--[[
acquire-many: many locks at once, each only if it is free and nobody stands in line for it. What it does not take
it leaves as it is, and says what it saw: `acquire` goes on from there.

KEYS[1..n]  lock   string   see _state.lua
ARGV[1]     terms  string   "<keep_ms> <ttl_ms> <owner>", the end of each state
ARGV[2]     turns  integer  tokens to reserve for each, 1 .. 1000
ARGV[3]     px     integer  keep_ms and ttl_ms together
ARGV[4]     common token    16 digits: a claim over several servers wants the same token of all of them. 0 for none
ARGV[5..n]  ids    string   of the requests, in the order of KEYS

Returns  {seen, ..., now}  seen is token (16 digits) and id where the lock was taken; {state, left_ms} where it
                           was not; "" where its key holds something else. now: 16 digits
         seen              alone, where only one was asked for, without `common`, and it was taken
Raises   nothing of its own

Retry    safe: a repeat sees its own id in the state of the lock
Clock    the server's, read once
Cost     O(n), 2 commands per lock; the least for one lock that is free
]]
local first = KEYS[1]
local terms, turns, px, common = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local time = redis.call('TIME')
local now = string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
-- Of one lock there is one write. Nearly always it is free and uncrowded, and its last token is behind the clock.
local alone
if not KEYS[2] and common == '0' then
  local id = ARGV[5]
  alone = redis.pcall('GET', first)
  if not alone or #alone == 17 and string.sub(alone, 1, 16) < now and string.find(alone, '^%d+ $') then
    local top = turns == '1' and now or string.format('%016.0f', now + turns - 1)
    redis.call('SET', first, top .. ' ' .. id .. ' ' .. now .. ' ' .. now .. ' ' .. terms, 'PX', px)
    return now .. id
  end
end
-- A clock that is a little behind the others follows them, and so do tokens that are a little ahead of it. Not more: tokens that are
-- close to the clock rise even where they are forgotten.
local ahead = common == '0' and now or string.format('%016.0f', tonumber(now) + 10000)
local start = common > now and common < ahead and common or now
local start_top = turns == '1' and start or string.format('%016.0f', tonumber(start) + tonumber(turns) - 1)
terms = ' ' .. now .. ' ' .. terms
local seen = {}
if #KEYS > 1 then
  --- @include "../../../../redis/lua/_rights.lua"
  need(first, 'GET', 'PTTL', 'SET')
end
for place = 1, #KEYS do
  local lock = KEYS[place]
  local state = alone or redis.pcall('GET', lock)
  -- Free and uncrowded.
  local last = not state and '' or #state == 17 and string.find(state, '^%d+ $') and string.sub(state, 1, 16)
  local token, top = start, start_top
  if last and last >= start and last < ahead then
    token = string.format('%016.0f', tonumber(last) + 1)
    top = string.format('%016.0f', tonumber(last) + tonumber(turns))
  end
  -- Its last token is behind the new one.
  if last and last < token then
    redis.call('SET', lock, top .. ' ' .. ARGV[place + 4] .. ' ' .. token .. terms, 'PX', px)
    seen[place] = token .. ARGV[place + 4]
  elseif type(state) == 'string' then
    local keep_ms = tonumber(string.match(string.sub(state, 18), '^%S+ %d+ %d+ (%d+) ')) or 0
    seen[place] = { state, redis.call('PTTL', lock) - keep_ms }
  else
    seen[place] = ''
  end
end
seen[#KEYS + 1] = now
return seen
