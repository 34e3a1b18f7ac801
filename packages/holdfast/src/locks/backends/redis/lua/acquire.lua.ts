// Generated from acquire.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/lua/acquire",
  sha1: "dfe4801d53aadf495d28bc885d26b6749d760edb",
  source: `local lock, line, waiters, banned = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, ttl_ms, turns, min_fence, owner = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]
local wait, inbox, heartbeat, ticket = ARGV[6] == '1', ARGV[7], ARGV[8], ARGV[9]
local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local now = read_clock()
local held = redis.call('GET', lock)
local is_sound = ttl_ms and turns and tonumber(min_fence) and tonumber(heartbeat) and tonumber(ticket)
local top, holder, since, keep_ms, lease_ms
if wait and held and ticket == '0' and is_sound then
  top, holder, since, keep_ms, lease_ms = string.match(held, '^(%d+)%+(%S+) %d+ (%d+) (%d+) (%d+) ')
end
if holder and holder ~= id and #top == 16 and top <= now and since <= now and now - since <= lease_ms * 1000 - 1000 then
  if redis.call('ZSCORE', banned, id) then return {3} end
  if redis.call('ZADD', line, 'NX', now, id) == 1 then
    local entry = string.format('%.0f', math.floor(now / 1000)) .. ' ' .. ttl_ms .. ' ' .. heartbeat .. ' ' .. turns
    local written = redis.pcall('HSET', waiters, id, entry .. ' ' .. min_fence .. ' ' .. inbox .. ' ' .. owner)
    if type(written) == 'table' then
      redis.call('ZREM', line, id)
      error(written)
    end
    local rank, kept_ms = redis.call('ZRANK', line, id), redis.call('PTTL', waiters)
    local left_ms = lease_ms - math.ceil((now - since) / 1000)
    if rank == 0 then left_ms = redis.call('PTTL', lock) - keep_ms end
    if rank == 0 or kept_ms < ttl_ms * 3 then
      kept_ms = string.format('%.0f', math.max(kept_ms, redis.call('PTTL', line), ttl_ms * 4))
      redis.call('PEXPIRE', waiters, kept_ms)
      redis.call('PEXPIRE', line, kept_ms)
    end
    if left_ms > 0 and left_ms <= tonumber(lease_ms) then return {2, left_ms, held, rank, string.format('%.0f', now)} end
  end
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
local request = {
  id = id, ttl_ms = ttl_ms, turns = turns, min_fence = min_fence, owner = owner,
  inbox = inbox, heartbeat = heartbeat,
}
local state = read_lock(lock, held)
if state.left_ms == 0 and state.flag == ' ' then return {1, hold(lock, state, ' ', now, request), id} end
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
local keys = { lock = lock, line = line, waiters = waiters, banned = banned, elsewhere = ARGV[10] == '1' }
if state.left_ms > 0 and state.id == id then
  renew(lock, state)
  return {1, state.token, id}
end
if not is_sound then error({ err = 'ERR acquire was called with a number that is none' }) end
if state.flag == '+' and redis.call('ZSCORE', banned, id) then return {3} end
if state.flag == '+' or wait then check_line(keys, id) end
if state.left_ms == 0 then
  local next_id, token = hand_over(keys, state, now, id)
  if next_id == id then return {1, token, id} end
end
if state.left_ms == 0 then
  local token = hold(lock, state, flag_now(keys), now, request)
  drop_waiter(keys, id)
  return {1, token, id}
end
if state.astray then renew(lock, state) end
if not wait then return {0, state.left_ms, state.held} end
local place = redis.call('ZSCORE', line, id)
raise_flag(keys, state, now)
if not place then
  if ticket == '0' then
    local last = redis.call('ZRANGE', line, -1, -1, 'WITHSCORES')[2]
    ticket = text(math.max(tonumber(last or '0') + 1, tonumber(now)))
  end
  redis.call('ZADD', line, ticket, id)
  place = ticket
end
write_waiter(keys, now, request)
return {2, state.left_ms, state.held, redis.call('ZRANK', line, id), text(tonumber(place))}
`,
};
