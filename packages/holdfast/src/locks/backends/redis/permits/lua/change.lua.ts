// Generated from change.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/permits/lua/change",
  sha1: "f40b3145adda35999a9ff3adc357e42d4ba14c5c",
  source: `local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local function text(number)
  return string.format('%.0f', number)
end
local function digits(lock, number)
  if #number > 16 or not string.find(number, '^%d+$') then
    error({ err = 'ERR a token has at most 16 digits: ' .. lock })
  end
  return string.rep('0', 16 - #number) .. number
end
local function add(lock, token, count)
  local low = tonumber(string.sub(token, 9)) + count
  local high = tonumber(string.sub(token, 1, 8)) + math.floor(low / 100000000)
  if high > 99999999 then error({ err = 'ERR the tokens of this lock are used up, delete its key: ' .. lock }) end
  return string.format('%08.0f%08.0f', high, low % 100000000)
end
local function keep_ms(top, now)
  return 86400000 + math.ceil(math.max(tonumber(top) - tonumber(now), 0) / 1000)
end
local function next_token(lock, top, now, min_fence)
  local token = now
  if min_fence ~= '0' then
    local least = digits(lock, min_fence)
    if least > token then token = least end
  end
  if token <= top then token = add(lock, top, 1) end -- guard: token rises
  return token
end
local function drop_waiter(keys, id)
  keys.kept_ms = 0
  redis.call('ZREM', keys.line, id)
  redis.call('HDEL', keys.waiters, id)
end
local WAITER = '^(%d+) (%d+) (%d+) (%d+)/?(%d*) (%d+) (%S+) (.*)$'
local function check_line(keys, id)
  redis.call('HEXISTS', keys.waiters, id)
  redis.call('ZCARD', keys.line)
end
local function write_waiter(keys, now, request)
  redis.call('HSET', keys.waiters, request.id, table.concat({
    text(math.floor(tonumber(now) / 1000)), request.ttl_ms, request.heartbeat,
    request.tokens and request.turns .. '/' .. request.tokens or request.turns, request.min_fence,
    request.inbox, request.owner,
  }, ' '))
  if (keys.kept_ms or 0) >= request.ttl_ms then return end
  keys.kept_ms = request.ttl_ms
  local waiters_ms, line_ms = redis.call('PTTL', keys.waiters), redis.call('PTTL', keys.line)
  if math.min(waiters_ms, line_ms) >= request.ttl_ms * 3 then return end
  local keep_ms = text(math.max(waiters_ms, line_ms, request.ttl_ms * 4))
  redis.call('PEXPIRE', keys.waiters, keep_ms)
  redis.call('PEXPIRE', keys.line, keep_ms)
end
local function read_waiter(keys, id)
  local entry = redis.call('HGET', keys.waiters, id)
  if not entry then return nil end
  local seen_ms, ttl_ms, heartbeat, turns, tokens, min_fence, inbox, owner = string.match(entry, WAITER)
  if not seen_ms then return nil end
  return {
    id = id, seen_ms = tonumber(seen_ms), ttl_ms = tonumber(ttl_ms), heartbeat = heartbeat,
    turns = tonumber(turns), tokens = tonumber(tokens), min_fence = min_fence, inbox = inbox, owner = owner,
  }
end
local function lives(keys, now, waiter)
  local silent_ms = math.floor(tonumber(now) / 1000) - waiter.seen_ms
  if silent_ms < 0 then
    write_waiter(keys, now, waiter)
    return true
  end
  return silent_ms < waiter.ttl_ms
end
local function first_waiter(keys, now, self_id, reach)
  while true do
    local id = redis.call('ZRANGE', keys.line, 0, 0)[1]
    if not id then return nil end
    local waiter = read_waiter(keys, id)
    if waiter and (id == self_id or (lives(keys, now, waiter) and reach(waiter))) then
      return waiter
    end
    drop_waiter(keys, id)
  end
end
local HEAD = '^(%d+) ([01]) (%d+) ([01]) (%d+) (%d+) (%d+) (%S+)$'
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
local function sweep(p, id)
  local fields = redis.call('HGETALL', p.permits)
  p.used, p.soonest, p.lease = 0, NEVER, nil
  for place = 1, #fields, 2 do
    local field, lease = fields[place], parse_lease(fields[place + 1])
    if field ~= '.' and not (lease and lease.end_ms > p.ms) then
      redis.call('HDEL', p.permits, field)
    elseif field ~= '.' then
      if lease.end_ms > p.ms + lease.ttl_ms then
        lease.end_ms = p.ms + lease.ttl_ms
        write_lease(p, field, lease)
      end
      p.used, p.soonest = p.used + lease.weight, math.min(p.soonest, lease.end_ms)
      if field == id then p.lease = lease end
    end
  end
end
local function look_up(p, id)
  p.lease = parse_lease(redis.call('HGET', p.permits, id))
end
local function open(p, id, limit)
  local now = read_clock()
  p.now, p.ms, p.granted, p.ttl_ms = now, math.floor(tonumber(now) / 1000), 0, 0
  local values = redis.call('HMGET', p.permits, '.', id)
  local head = values[1] or '0000000000000000 1 0 0 0 0 0 -'
  local top, flag, known, pin, used, soonest, seen, last = string.match(head, HEAD)
  if not top then error({ err = 'WRONGTYPE the key of these permits holds something else: ' .. p.permits }) end
  p.top, p.flag, p.limit, p.pin, p.last = top, flag, tonumber(known), pin, last
  p.used, p.soonest, p.lease = tonumber(used), tonumber(soonest), parse_lease(values[2])
  if limit and pin == '0' then p.limit = tonumber(limit) end
  if flag == '1' then check_line(p, id) end
  if p.ms >= p.soonest or p.ms < tonumber(seen) then sweep(p, id) end
end
local function save(p)
  redis.call('HSET', p.permits, '.', table.concat({
    p.top, p.flag, text(p.limit), p.pin, text(p.used), text(p.soonest), text(p.ms), p.last,
  }, ' '))
  local keep = keep_ms(p.top, p.now) + p.ttl_ms
  if redis.call('PTTL', p.permits) < keep then redis.call('PEXPIRE', p.permits, text(keep)) end
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
local function hold(p, request)
  local token = next_token(p.permits, p.top, p.now, request.min_fence)
  local top = add(p.permits, token, (request.tokens or 1) - 1)
  write_lease(p, request.id, {
    end_ms = p.ms + request.ttl_ms, weight = request.turns, token = token, since = p.now, ttl_ms = request.ttl_ms,
    owner = request.owner,
  })
  p.top, p.last, p.used = top, request.id, p.used + request.turns
  p.ttl_ms = math.max(p.ttl_ms, request.ttl_ms)
  return token
end
local function tell(p, inbox, message)
  local verb = string.match(p.permits, '[^:]+$')
  return redis.call('PUBLISH', inbox, verb .. ' ' .. message) > 0 or p.elsewhere
end
local function give(p, self_id)
  local place, served = 0, {}
  while p.flag == '1' do
    if p.used >= p.limit then return served, true end
    local id = redis.call('ZRANGE', p.line, place, place)[1]
    if not id then break end
    local waiter = read_waiter(p, id)
    if not waiter or not (id == self_id or lives(p, p.now, waiter)) then
      drop_waiter(p, id)
    elseif waiter.turns > p.limit then
      place = place + 1
    elseif not fits(p, waiter.turns) then
      return served, true
    else
      waiter.token = hold(p, waiter)
      drop_waiter(p, id)
      served[#served + 1] = waiter
    end
  end
  return served, false
end
local function tell_grants(p, waiters)
  local inboxes, by_inbox, all_heard = {}, {}, true
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
    if tell(p, inbox, 'grant ' .. #own .. ' ' .. table.concat(words, ' ') .. ' ' .. p.permits) then
      p.granted = p.granted + #own
    else
      all_heard = false
      for _, waiter in ipairs(own) do
        redis.call('HDEL', p.permits, waiter.id)
        p.used = p.used - waiter.turns
      end
    end
  end
  return all_heard
end
local function serve(p, self_id)
  local own
  while true do
    local served, is_blocked = give(p, self_id)
    if #served == 0 then return own, is_blocked end
    save(p)
    local others = {}
    for _, waiter in ipairs(served) do
      if waiter.id == self_id then own = waiter.token else others[#others + 1] = waiter end
    end
    p.is_saved = tell_grants(p, others)
    if p.is_saved then return own, is_blocked end
  end
end
local function ban(keys, now, id, ban_ms)
  local now_ms = math.floor(tonumber(now) / 1000)
  redis.call('ZREMRANGEBYSCORE', keys.banned, '-inf', now_ms)
  redis.call('ZADD', keys.banned, text(now_ms + ban_ms), id)
  if redis.call('PTTL', keys.banned) < ban_ms then
    redis.call('PEXPIRE', keys.banned, text(ban_ms))
  end
end
local p = { permits = KEYS[1], line = KEYS[2], waiters = KEYS[3], banned = KEYS[4], elsewhere = ARGV[1] == '1' }
local function change(first)
  local id, keep, ban_ms = ARGV[first], tonumber(ARGV[first + 1]), tonumber(ARGV[first + 2])
  local limit, told = ARGV[first + 3], ARGV[first + 4]
  if first > 2 then look_up(p, id) end
  local lease, left = p.lease, 0
  redis.call('HDEL', p.permits, keep == 0 and id or '')
  if lease and keep < lease.weight then
    p.used = p.used - (lease.weight - keep)
    lease.weight = keep
    if keep > 0 then write_lease(p, id, lease) end
  elseif not lease and id ~= '' then
    left = redis.call('HDEL', p.waiters, id) + redis.call('ZREM', p.line, id)
    p.kept_ms = 0
  end
  if ban_ms > 0 then
    ban(p, p.now, id, ban_ms)
    p.flag = '1'
  end
  if limit == '-' then
    p.pin = '0'
  elseif limit ~= '' then
    p.limit, p.pin = tonumber(limit), '1'
  end
  local heard = 0
  if told ~= '' and lease then
    p.top = add(p.permits, p.top, 1)
    heard = tell(p, told, 'revoked ' .. id) and 1 or 0
  end
  if lease then return { 1, heard } end
  return { left > 0 and 3 or 0 }
end
open(p, ARGV[2])
redis.call('ZCARD', p.banned)
local replies = {}
for first = 2, #ARGV, 5 do replies[#replies + 1] = change(first) end
serve(p)
close(p)
for _, reply in ipairs(replies) do
  if reply[1] == 1 and p.granted > 0 then
    reply[1], p.granted = 2, p.granted - 1
  end
end
return replies
`,
};
