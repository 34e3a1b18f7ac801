--[[
The permits of a name: how many there are, and who has them. A reader takes one permit and a writer takes all. Needs _clock.lua,
_token.lua and _waiters.lua.

permits  hash  '.'   "<top> <flag> <limit> <pin> <used> <soonest_ms> <seen_ms> <last>"
               <id>  "<end_ms> <weight> <token> <since> <ttl_ms> <owner>" of each lease

top         the highest token handed out, 16 digits
flag        0: certainly nobody waits or is banned; 1: look at line, waiters and banned
limit, pin  the number of permits; pin 1: it was set at run time, and what a request says of it does not count
used        the sum of the weights
soonest_ms  no lease ends before this time
seen_ms     the server's clock when this was written: a clock before it was set back
last        the id of the lease that was granted last, or -
line, waiters  see _waiters.lua, where a waiter's <turns> is its weight, and <tokens> the number of tokens to reserve for it
banned      zset, id that gave up -> end of its ban in ms

One hash, so that neither the leases nor the last token can be lost without the other. The key is kept until 24 h after its leases,
or after the clock has moved past top. A lease that is over is found by a sweep over all of them, which runs when one may be over, when
`used` cannot be, or when the clock was set back: it cuts every lease to its own ttl.
]]
--- @include "../../../../../redis/lua/_message.lua"
--- @include "../../../../../redis/lua/_listens.lua"
local HEAD = '^(%d+) ([01]) (%d+) ([01]) (%-?%d+) (%d+) (%d+) (%S+)$'
local LEASE = '^(%d+) (%d+) (%d+) (%d+) (%d+) (.*)$'
local NEVER = 9999999999999

local function parse_lease(value)
  local end_ms, weight, token, since, ttl_ms, owner = string.match(value or '', LEASE)
  return end_ms and {
    end_ms = tonumber(end_ms), weight = tonumber(weight), token = token, since = since, ttl_ms = tonumber(ttl_ms), owner = owner,
  } or nil
end

local function write_lease(p, id, lease)
  p.soonest = math.min(p.soonest, lease.end_ms)
  redis.call('HSET', p.permits, id, table.concat({
    text(lease.end_ms), text(lease.weight), lease.token, lease.since, text(lease.ttl_ms), lease.owner,
  }, ' '))
end

-- The key outlives the leases that began now, and the last token.
local function save(p)
  redis.call('HSET', p.permits, '.', table.concat({
    p.top, p.flag, text(p.limit), p.pin, text(p.used), text(p.soonest), text(p.ms), p.last,
  }, ' '))
  local keep = keep_ms(p.top, p.now) + p.ttl_ms
  if redis.call('PTTL', p.permits) < keep then redis.call('PEXPIRE', p.permits, text(keep)) end
end

-- Ends the leases that are over. Its write may be the first, so it reads what others write later.
local function sweep(p, id)
  check_line(p, id)
  redis.call('ZCARD', p.banned)
  local fields, has_written = redis.call('HGETALL', p.permits), false
  p.used, p.soonest, p.lease = 0, NEVER, nil
  for place = 1, #fields, 2 do
    local field, lease = fields[place], parse_lease(fields[place + 1])
    if field ~= '.' and not (lease and lease.end_ms > p.ms) then
      redis.call('HDEL', p.permits, field)
      has_written = true
    elseif field ~= '.' then
      if lease.end_ms > p.ms + lease.ttl_ms then
        lease.end_ms = p.ms + lease.ttl_ms
        write_lease(p, field, lease)
        has_written = true
      end
      p.used, p.soonest = p.used + lease.weight, math.min(p.soonest, lease.end_ms)
      if field == id then p.lease = lease end
    end
  end
  -- Here, because not every script that opens the permits has more to write.
  if has_written then save(p) end
end

-- The live lease of this id, once p is open.
local function look_up(p, id)
  p.lease = parse_lease(redis.call('HGET', p.permits, id))
end

-- Reads the permits into p, which has the four keys of the name and `elsewhere`, and ends the leases that are over. p.lease is then
-- the live lease of this id.
local function open(p, id, limit)
  local now = read_clock()
  p.now, p.ms, p.granted, p.ttl_ms = now, math.floor(tonumber(now) / 1000), 0, 0
  local values = redis.call('HMGET', p.permits, '.', id)
  -- Where the state was lost, somebody may wait all the same.
  local head = values[1] or '0000000000000000 1 0 0 0 0 0 -'
  local top, flag, known, pin, used, soonest, seen, last = string.match(head, HEAD)
  if not top then foreign(p.permits, head) end
  p.top, p.flag, p.limit, p.pin, p.last = top, flag, tonumber(known), pin, last
  p.used, p.soonest, p.lease = tonumber(used), tonumber(soonest), parse_lease(values[2])
  if limit and pin == '0' then p.limit = tonumber(limit) end
  if p.ms >= p.soonest or p.used < 0 or p.ms < tonumber(seen) then sweep(p, id)
  elseif flag == '1' then check_line(p, id) end
end

local function close(p)
  if p.flag == '1' and redis.call('EXISTS', p.waiters, p.banned) == 0 then
    p.flag, p.is_saved = '0', false
  end
  if not p.is_saved then save(p) end
end

local function fits(p, weight)
  return p.used + weight <= p.limit -- guard: never more than the limit
end

-- A lease for this request, with a token larger than every one before, and those that it reserves after it: the owner record tells how many.
local function hold(p, request)
  local token = next_token(p.permits, p.top, p.now, request.min_fence)
  local tokens, owner = request.tokens or 1, request.owner
  local top = add(p.permits, token, tokens - 1)
  if tokens > 1 then owner = string.gsub(owner, '^{"', '{"tokens":' .. text(tokens) .. ',"', 1) end
  write_lease(p, request.id, {
    end_ms = p.ms + request.ttl_ms, weight = request.turns, token = token, since = p.now, ttl_ms = request.ttl_ms,
    owner = owner,
  })
  p.top, p.last, p.used = top, request.id, p.used + request.turns
  p.ttl_ms = math.max(p.ttl_ms, request.ttl_ms)
  return token
end

-- Tells a process, as send() does. The verb is the last word of the key: semaphore or rwlock.
local function tell(p, inbox, message)
  return send(inbox, '', string.match(p.permits, '[^:]+$') .. ' ' .. message)
end

-- The process of a waiter that does not listen is gone.
local function is_there(p, waiter)
  p.there = p.there or {}
  local inbox = waiter.inbox
  if p.there[inbox] == nil then p.there[inbox] = p.elsewhere or listens(inbox) end
  return p.there[inbox]
end

-- Has the first waiter in line ask, once a lease of ttl_ms has begun, where it would ask too late by itself.
local function wake_first(p, ttl_ms, self_id)
  local waiter = unaware_waiter(p, p.now, ttl_ms, self_id, is_there)
  if waiter then tell(p, waiter.inbox, 'wake ' .. waiter.id) end
end

-- Gives permits to the line in its order, as far as they go. One that wants more than there are at all is passed over, and keeps its
-- place. Returns the waiters that got theirs, and whether somebody is left who must be served before all others, with its id and record
-- where they were read.
local function give(p, self_id)
  local place, served, next_id, next_entry = 0, {}, nil, nil
  while p.flag == '1' do
    -- Nothing is left for anybody.
    if p.used >= p.limit then return served, true, next_id, next_entry end
    local ids = redis.call('ZRANGE', p.line, place, place + 1)
    local id = ids[1]
    if not id then break end
    local entries = redis.call('HMGET', p.waiters, unpack(ids))
    local waiter = parse_waiter(id, entries[1])
    next_id, next_entry = ids[2], entries[2]
    if not waiter or not (id == self_id or lives(p, p.now, waiter)) then
      drop_waiter(p, id)
    elseif waiter.turns > p.limit then
      place = place + 1
    elseif not fits(p, waiter.turns) then
      return served, true, id, entries[1]
    elseif id ~= self_id and not is_there(p, waiter) then
      drop_waiter(p, id)
    else
      waiter.token = hold(p, waiter)
      drop_waiter(p, id)
      served[#served + 1] = waiter
    end
  end
  return served, false
end

-- Written first, told second, as in _line.lua: one message for each process. Returns false where this user may not tell somebody, who has
-- not heard it, and whose permits are free again.
local function tell_grants(p, waiters)
  local inboxes, by_inbox, all_told = {}, {}, true
  for _, waiter in ipairs(waiters) do
    if not by_inbox[waiter.inbox] then
      by_inbox[waiter.inbox] = {}
      inboxes[#inboxes + 1] = waiter.inbox
    end
    table.insert(by_inbox[waiter.inbox], waiter)
  end
  for _, inbox in ipairs(inboxes) do
    local words, own = {}, by_inbox[inbox]
    for place, waiter in ipairs(own) do
      words[place] = table.concat({ waiter.id, waiter.token, waiter.heartbeat, text(waiter.ttl_ms) }, ' ')
    end
    local _, is_refused = tell(p, inbox, 'grant ' .. #own .. ' ' .. table.concat(words, ' ') .. ' ' .. p.permits)
    if not is_refused then
      p.granted = p.granted + #own
    else
      all_told = false
      for _, waiter in ipairs(own) do
        redis.call('HDEL', p.permits, waiter.id)
        p.used = p.used - waiter.turns
      end
    end
  end
  return all_told
end

-- Whoever is to be served next must know when the first of these leases can be over.
local function wake_next(p, self_id, served, next_id, next_entry)
  local shortest_ms = NEVER
  for _, waiter in ipairs(served) do shortest_ms = math.min(shortest_ms, waiter.ttl_ms) end
  local waiter = parse_waiter(next_id, next_entry)
  if not (waiter and asks_within(p.now, waiter, shortest_ms)) then wake_first(p, shortest_ms, self_id) end
end

-- Serves the line, and tells those who are served. Returns the token of self_id, if it is one of them, and whether somebody is left
-- who must be served before all others.
local function serve(p, self_id)
  local own
  while true do
    local served, is_blocked, next_id, next_entry = give(p, self_id)
    if #served == 0 then return own, is_blocked end
    save(p)
    local others = {}
    for _, waiter in ipairs(served) do
      if waiter.id == self_id then own = waiter.token else others[#others + 1] = waiter end
    end
    p.is_saved = tell_grants(p, others)
    -- Where all were told, nobody else is to be served.
    if p.is_saved then
      if next_id then wake_next(p, self_id, served, next_id, next_entry) end
      return own, is_blocked
    end
  end
end
