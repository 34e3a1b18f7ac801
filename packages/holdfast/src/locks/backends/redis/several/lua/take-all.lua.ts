// Generated from take-all.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/several/lua/take-all",
  sha1: "7a698d7afd88dcec1ac7768c8dcf5c2f8c44894f",
  source: `local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local now = read_clock()
local function read_clock()
  return now
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
local elsewhere, owner = ARGV[1] == '1', ARGV[2]
local function bad_terms(terms)
  error({ err = 'ERR take-all was called with terms that are none: ' .. terms })
end
local look_at_mutex, look_at_permits
do
local HELD = '^(%S+) (%d+) (%d+) (%d+) (%d+) (.*)$'
local function read_lock(lock, held)
  if held == nil then held = redis.call('GET', lock) end
  if not held then return { top = '0000000000000000', flag = ' ', left_ms = 0 } end
  local top, flag, rest = string.match(held, '^(%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)([ +])(.*)$')
  local id, token, _, keep_ms, ttl_ms = string.match(rest or '', HELD)
  if not top or (rest ~= '' and not id) then
    error({ err = 'WRONGTYPE the key of this lock holds something else: ' .. lock })
  end
  local state = { held = held, top = top, flag = flag, id = id, token = token, left_ms = 0 }
  if id then
    state.ttl_ms, state.keep_ms = tonumber(ttl_ms), tonumber(keep_ms)
    local expiry_ms = redis.call('PTTL', lock)
    local left_ms = expiry_ms - state.keep_ms
    state.astray = left_ms > state.ttl_ms or expiry_ms < 0
    state.left_ms = state.astray and state.ttl_ms or math.max(left_ms, 0)
  end
  return state
end
local function renew(lock, state)
  redis.call('PEXPIRE', lock, text(state.keep_ms + state.ttl_ms))
  state.left_ms, state.astray = state.ttl_ms, false
end
local function hold(lock, state, flag, now, request)
  local token = next_token(lock, state.top, now, request.min_fence)
  state.top = request.turns == 1 and token or add(lock, token, request.turns - 1)
  state.id, state.ttl_ms, state.left_ms = request.id, request.ttl_ms, request.ttl_ms
  state.keep_ms = keep_ms(state.top, now)
  state.held = state.top .. flag .. request.id .. ' ' .. token .. ' ' .. now .. ' '
    .. text(state.keep_ms) .. ' ' .. request.ttl_ms .. ' ' .. request.owner
  redis.call('SET', lock, state.held, 'PX', text(state.keep_ms + request.ttl_ms))
  return token
end
local function free(lock, state, flag, now)
  local freed = redis.pcall('SET', lock, state.top .. flag, 'PX', text(keep_ms(state.top, now)))
  if freed.err then
    if not state.id then error(freed) end
    redis.call('PEXPIRE', lock, text(state.keep_ms))
  end
  state.held, state.id, state.left_ms = nil, nil, 0
end
local function raise_flag(keys, state, now)
  if state.flag == '+' then return end
  if state.held then
    redis.call('SETRANGE', keys.lock, 16, '+')
    state.held = string.sub(state.held, 1, 16) .. '+' .. string.sub(state.held, 18)
  else
    free(keys.lock, state, '+', now)
  end
  state.flag = '+'
end
local function flag_now(keys)
  return redis.call('EXISTS', keys.waiters, keys.banned) > 0 and '+' or ' '
end
local function tell(keys, waiter, token)
  local message = 'grant ' .. waiter.id .. ' ' .. token .. ' ' .. waiter.heartbeat
  message = message .. ' ' .. waiter.ttl_ms .. ' ' .. keys.lock
  return redis.call('PUBLISH', waiter.inbox, message) > 0 or keys.elsewhere
end
local function hand_over(keys, state, now, self_id)
  local written = false
  local token
  local waiter = first_waiter(keys, now, self_id, function(candidate)
    token = hold(keys.lock, state, '+', now, candidate)
    written = true
    return tell(keys, candidate, token)
  end)
  if not waiter then
    if written then free(keys.lock, state, '+', now) end
    return nil
  end
  if waiter.id == self_id then token = hold(keys.lock, state, '+', now, waiter) end
  drop_waiter(keys, waiter.id)
  return waiter.id, token
end
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
    add(lock, next_token(lock, state.top, now, min_fence), request.turns)
    return 'free', function()
      return hold(lock, state, state.flag == '+' and flag_now(keys) or ' ', now, request)
    end
  end
end
do
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
      if p.is_saved ~= nil then close(p) end
    end
    local request = {
      id = id, ttl_ms = tonumber(ttl_ms), turns = tonumber(weight), tokens = tonumber(tokens), min_fence = min_fence, owner = owner,
    }
    if is_blocked or not fits(p, request.turns) then
      return 'busy', p.last ~= '-' and redis.call('HGET', p.permits, p.last) or ''
    end
    add(p.permits, next_token(p.permits, p.top, now, min_fence), request.tokens)
    return 'free', function()
      local token = hold(p, request)
      p.is_saved = false
      close(p)
      return token
    end
  end
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
`,
};
