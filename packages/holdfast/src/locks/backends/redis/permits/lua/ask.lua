--[[
ask: many claims for permits at once, of one name or of several. Each takes its permits, or stands in line for them, or says who has
them; or gives a sign of life where it stands in line already.

KEYS[1..4n]  permits, line, waiters, banned of each name: see _permits.lua
ARGV[1]      elsewhere  0 or 1  as in _line.lua of a mutex
ARGV[2]      inbox      string  channel of this process
ARGV[3]      owner      string  JSON, written beside the leases for people to read
ARGV[4..m]   place, id, heartbeat and terms of each claim in turn
             place      of its name, from 1
             terms      "" for a sign of life, or "<ttl_ms> <weight> <limit> <tokens> <min_fence> <wait> <ticket>"
             tokens     to reserve for it, 1 .. 1000

Returns  one entry per claim:
         {1, token, id}                     it has its permits for ttl_ms from now; token, and those reserved, > every earlier one
         {0, left_ms, lease}                busy; no lease ends within left_ms; lease: the one granted last, or ""
         {2, left_ms, lease, rank, ticket}  in line, rank waiters ahead
         {3}                                it gave up before; or, for a sign of life, it must ask with its terms
Raises   WRONGTYPE, ERR                     another program owns a key. For many claims at once, that one counts as 3

Retry    safe: the id that holds gets its token again with a fresh ttl; in line, its place
Clock    the server's, read once per name
Cost     O(log m) per claim, with m the length of the line, and O(h) with h the leases when one of them may be over
]]
--- @include "../../../../../redis/lua/_clock.lua"
--- @include "../../lua/_token.lua"
--- @include "../../lua/_waiters.lua"
--- @include "_permits.lua"
local function busy(p, kind)
  if p.shown ~= p.last then
    p.shown, p.shown_lease = p.last, p.last ~= '-' and redis.call('HGET', p.permits, p.last) or ''
  end
  return { kind, p.soonest - p.ms, p.shown_lease }
end

-- Returns its place.
local function stand(p, request, ticket)
  if p.flag == '0' then check_line(p, request.id) end
  local place = redis.call('ZSCORE', p.line, request.id)
  if not place then
    if ticket == '0' then
      local last = p.last_ticket or redis.call('ZRANGE', p.line, -1, -1, 'WITHSCORES')[2]
      ticket = text(math.max(tonumber(last or '0') + 1, tonumber(p.now)))
      p.last_ticket = ticket
    end
    redis.call('ZADD', p.line, ticket, request.id)
    place = ticket
  end
  write_waiter(p, p.now, request)
  p.flag = '1'
  return place
end

-- The claim in the terms of a first question, or as it stands in line. Nil: it must ask with its terms.
local function request_of(p, id, heartbeat, terms)
  local ttl_ms, weight, limit, tokens, min_fence, wait, ticket =
    string.match(terms, '^(%d+) (%d+) (%d+) (%d+) (%d+) ([01]) (%d+)$')
  if ttl_ms then
    if p.pin == '0' then p.limit = tonumber(limit) end
    return {
      id = id, ttl_ms = tonumber(ttl_ms), turns = tonumber(weight), tokens = tonumber(tokens), min_fence = min_fence,
      heartbeat = heartbeat, inbox = ARGV[2], owner = ARGV[3],
    }, wait == '1', ticket
  end
  -- Where the state was lost, only the terms of a claim tell how many permits there are.
  local is_lost = p.limit == 0 and p.pin == '0'
  local request = not is_lost and redis.call('ZSCORE', p.line, id) and read_waiter(p, id)
  if not request then return nil end
  request.heartbeat, p.flag = heartbeat, '1'
  return request, true
end

local names = {}

-- The permits of a name, with the lease of this id.
local function opened(place, id)
  local p = names[place]
  if p then
    look_up(p, id)
    return p
  end
  local first = 4 * place - 3
  p = {
    permits = KEYS[first], line = KEYS[first + 1], waiters = KEYS[first + 2], banned = KEYS[first + 3],
    elsewhere = ARGV[1] == '1',
  }
  open(p, id)
  names[place] = p
  return p
end

local function ask(place, id, heartbeat, terms)
  local p = opened(place, id)
  if p.lease then
    p.lease.end_ms = p.ms + p.lease.ttl_ms
    p.ttl_ms = math.max(p.ttl_ms, p.lease.ttl_ms)
    write_lease(p, id, p.lease)
    p.is_saved = false
    return {1, p.lease.token, id}
  end
  if p.flag == '1' and redis.call('ZSCORE', p.banned, id) then return {3} end
  local request, waits, ticket = request_of(p, id, heartbeat, terms)
  if not request then return {3} end
  p.is_saved = false
  -- Where nobody waits it need not stand in line to be served.
  local stands = waits and not (p.flag == '0' and fits(p, request.turns))
  local ticket_now = stands and stand(p, request, ticket)
  local token, is_blocked = serve(p, id)
  if not (token or is_blocked or stands) and fits(p, request.turns) then
    token, p.is_saved = hold(p, request), false
  end
  if token then return {1, token, id} end
  if not stands then return busy(p, 0) end
  local reply = busy(p, 2)
  reply[4], reply[5] = redis.call('ZRANK', p.line, id), text(tonumber(ticket_now))
  return reply
end

local function ask_at(first)
  return ask(tonumber(ARGV[first]), ARGV[first + 1], ARGV[first + 2], ARGV[first + 3])
end

--- @include "../../../../../redis/lua/_rights.lua"
--- @rights KEYS[1]
local replies = {}
if #ARGV == 7 then
  replies[1] = ask_at(4)
else
  for first = 4, #ARGV, 4 do
    local ok, reply = pcall(ask_at, first)
    replies[#replies + 1] = ok and reply or {3}
  end
end
for _, p in pairs(names) do
  if p.is_saved ~= nil then close(p) end
end
return replies
