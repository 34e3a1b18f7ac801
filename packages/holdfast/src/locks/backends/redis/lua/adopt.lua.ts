// Generated from adopt.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/lua/adopt",
  sha1: "1417ac2575cc27a572c122c06299c6aa362a60e8",
  source: `local lock, line, waiters, banned = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local from, fence, id = ARGV[1], ARGV[2], ARGV[3]
local request = { id = id, ttl_ms = tonumber(ARGV[4]), turns = tonumber(ARGV[5]), min_fence = ARGV[6], owner = ARGV[7] }
local keys = { lock = lock, line = line, waiters = waiters, banned = banned }
local function read_clock()
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
local function ban(keys, now, id, ban_ms)
  local now_ms = math.floor(tonumber(now) / 1000)
  redis.call('ZREMRANGEBYSCORE', keys.banned, '-inf', now_ms)
  redis.call('ZADD', keys.banned, text(now_ms + ban_ms), id)
  if redis.call('PTTL', keys.banned) < ban_ms then
    redis.call('PEXPIRE', keys.banned, text(ban_ms))
  end
end
local now = read_clock()
local state = read_lock(lock)
local last = digits(lock, fence)
check_line(keys, id)
local is_refused, is_adopted = redis.call('ZSCORE', banned, id), redis.call('ZSCORE', banned, from)
if state.left_ms > 0 and state.id == id then
  renew(lock, state)
  return {1, state.token, id}
end
if is_refused then return {0} end
if is_adopted then return {2} end
if state.left_ms == 0 then return {0} end
if state.id ~= from or last < state.token or last > state.top then return {2} end
raise_flag(keys, state, now)
ban(keys, now, from, state.ttl_ms)
return {1, hold(lock, state, '+', now, request), id}
`,
};
