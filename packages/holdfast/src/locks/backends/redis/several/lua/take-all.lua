--[[
take-all: take several names at once, mutexes and permits, or none of them.

KEYS[1..4n]  the four keys of each part: lock, line, waiters, banned of a mutex, see _state.lua and _line.lua; or
             permits, line, waiters, banned, see _permits.lua
ARGV[1]      elsewhere  0 or 1  as in _line.lua
ARGV[2]      owner      string  JSON, written beside the leases for people to read
ARGV[3..n]   id and terms of each part in turn, in the order of KEYS
             terms      "mutex <ttl_ms> <turns> <min_fence>", or "permits <ttl_ms> <weight> <limit> <tokens> <min_fence>"

Returns  {1, token, id, ...}     all parts are held, each for its ttl_ms from now; each token > every earlier one of its name
         {0, place, own, holder} busy: the part at `place` (from 1) is not free; own: the number of parts that an earlier copy of
                                 this request holds; holder: the value of the lock, or the lease granted last, or ""
         {3}                     one of these ids gave up before: nothing was taken
Raises   WRONGTYPE, ERR          another program owns one of the keys, or the tokens of a name are used up; nothing was taken

Retry    safe: an id that holds gets its token again with a fresh ttl
Clock    the server's, read once
Cost     O(n), and for each part that of acquire or of ask

All parts are looked at before the first is taken. A part that is free, and has a line, serves its line first, as each request for
it does. What holds or waits is otherwise left as it is.
]]
--- @include "../../../../../redis/lua/_clock.lua"
local now = read_clock()
-- The shared code below reads it here.
local function read_clock()
  return now
end
--- @include "../../../../../redis/lua/_message.lua"
--- @include "../../../../../redis/lua/_listens.lua"
--- @include "../../lua/_token.lua"
--- @include "../../lua/_waiters.lua"
local elsewhere, owner = ARGV[1] == '1', ARGV[2]

local function bad_terms(terms)
  error({ err = 'ERR take-all was called with terms that are none: ' .. terms })
end

--- @include "../../../../../redis/lua/_rights.lua"
--- @rights KEYS[1]
-- Each of the two looks at a part. It returns "free" or "own" and the function that takes the part, which raises nothing; or "busy"
-- and the holder; or "over".
local look_at_mutex, look_at_permits
-- The other two raise where another program owns the key.
local read_mutex, read_permits
do
  --- @include "../../lua/_state.lua"
  --- @include "../../lua/_line.lua"
  read_mutex = read_lock
  function look_at_mutex(first, id, terms)
    local ttl_ms, turns, min_fence = string.match(terms, '^mutex (%d+) (%d+) (%d+)$')
    if not ttl_ms then bad_terms(terms) end
    local lock = KEYS[first]
    local keys = {
      lock = lock, line = KEYS[first + 1], waiters = KEYS[first + 2], banned = KEYS[first + 3], elsewhere = elsewhere,
    }
    local state = read_lock(lock)
    if state.left_ms > 0 and state.id == id then
      return 'own', function()
        renew(lock, state)
        return state.token
      end
    end
    if state.flag == '+' then
      if redis.call('ZSCORE', keys.banned, id) then return 'over' end
      check_line(keys, id)
      if state.left_ms == 0 then hand_over(keys, state, now, '') end
    end
    if state.left_ms > 0 then
      if state.astray then renew(lock, state) end
      return 'busy', state.held
    end
    local request = { id = id, ttl_ms = tonumber(ttl_ms), turns = tonumber(turns), min_fence = min_fence, owner = owner }
    -- Raises where there is no token left.
    add(lock, next_token(lock, state.top, now, min_fence), request.turns)
    return 'free', function()
      return hold(lock, state, state.flag == '+' and flag_now(keys) or ' ', now, request)
    end
  end
end
do
  --- @include "../../permits/lua/_permits.lua"
  function read_permits(permits)
    local head = redis.call('HGET', permits, '.')
    if head and not string.match(head, HEAD) then foreign(permits, head) end
  end
  function look_at_permits(first, id, terms)
    local ttl_ms, weight, limit, tokens, min_fence = string.match(terms, '^permits (%d+) (%d+) (%d+) (%d+) (%d+)$')
    if not ttl_ms then bad_terms(terms) end
    local p = {
      permits = KEYS[first], line = KEYS[first + 1], waiters = KEYS[first + 2], banned = KEYS[first + 3], elsewhere = elsewhere,
    }
    open(p, id, limit)
    if p.lease then
      return 'own', function()
        p.lease.end_ms = p.ms + p.lease.ttl_ms
        p.ttl_ms = p.lease.ttl_ms
        write_lease(p, id, p.lease)
        close(p)
        return p.lease.token
      end
    end
    local is_blocked = false
    if p.flag == '1' then
      if redis.call('ZSCORE', p.banned, id) then return 'over' end
      local _, blocked = serve(p, '')
      is_blocked = blocked
      -- Somebody was served, or could not be told.
      if p.is_saved ~= nil then close(p) end
    end
    local request = {
      id = id, ttl_ms = tonumber(ttl_ms), turns = tonumber(weight), tokens = tonumber(tokens), min_fence = min_fence, owner = owner,
    }
    if is_blocked or not fits(p, request.turns) then
      return 'busy', p.last ~= '-' and redis.call('HGET', p.permits, p.last) or ''
    end
    -- Raises where there is no token left.
    add(p.permits, next_token(p.permits, p.top, now, min_fence), request.tokens)
    return 'free', function()
      local token = hold(p, request)
      p.is_saved = false
      close(p)
      return token
    end
  end
end

-- Whoever looks at a name may serve its line. Raise before that where another program owns a key of any.
for place = 1, #KEYS, 4 do
  local read = string.sub(ARGV[(place + 7) / 2], 1, 6) == 'mutex ' and read_mutex or read_permits
  read(KEYS[place])
  check_line({ line = KEYS[place + 1], waiters = KEYS[place + 2] }, '')
  redis.call('ZCARD', KEYS[place + 3])
end

local takes, own, busy = {}, 0, nil
for place = 1, #KEYS / 4 do
  local id, terms = ARGV[2 * place + 1], ARGV[2 * place + 2]
  local look_at = string.sub(terms, 1, 6) == 'mutex ' and look_at_mutex or look_at_permits
  local found, part = look_at(4 * place - 3, id, terms)
  if found == 'over' then return {3} end
  if found == 'own' then own = own + 1 end
  if found == 'busy' then
    busy = busy or { 0, place, 0, part }
  else
    takes[place] = part
  end
end
if busy then
  busy[3] = own
  return busy
end
local reply = {1}
for place, take in ipairs(takes) do
  reply[2 * place], reply[2 * place + 1] = take(), ARGV[2 * place + 1]
end
return reply
