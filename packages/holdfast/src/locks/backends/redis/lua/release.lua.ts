// Generated from release.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/lua/release",
  sha1: "d7884c18cea9a2c0070f3400ddb294ad9d3ab8ac",
  source: `local lock, line, waiters, banned = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, ban_ms, elsewhere = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local held = redis.call('GET', lock)
local mine = held and ban_ms == 0 and string.sub(held, 17, 18 + #id)
if mine == ' ' .. id .. ' ' then
  local freed = redis.pcall('SET', lock, string.sub(held, 1, 17), 'KEEPTTL')
  if not freed.err then return {1} end
end
local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local now = read_clock()
if mine == '+' .. id .. ' ' then
  local next_id = redis.call('ZRANGE', line, 0, 0)[1]
  local entry = next_id and next_id ~= id and redis.call('HGET', waiters, next_id)
  local since, keep_ms, left_ms = string.match(held, '^%S+ %d+ (%d+) (%d+) (%d+) ', 18)
  left_ms = left_ms and since <= now and left_ms - math.ceil((now - since) / 1000) or 0
  if entry and keep_ms and left_ms <= 0 then left_ms = redis.call('PTTL', lock) - keep_ms end
  if entry and left_ms > 0 then
    local seen_ms, ttl_ms, heartbeat, turns, min_fence, inbox, owner =
      string.match(entry, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (.*)$')
    local silent_ms = math.floor(tonumber(now) / 1000) - (tonumber(seen_ms) or math.huge)
    local lives = silent_ms >= 0 and silent_ms < tonumber(ttl_ms)
    if lives and min_fence == '0' and string.sub(held, 1, 16) < now then
      local top = turns == '1' and now or string.format('%016.0f', tonumber(now) + tonumber(turns) - 1)
      local lease = next_id .. ' ' .. now .. ' ' .. now .. ' 86400000 ' .. ttl_ms .. ' ' .. owner
      redis.call('SET', lock, top .. '+' .. lease, 'PX', string.format('%.0f', 86400000 + tonumber(ttl_ms)))
      local grant = 'grant ' .. next_id .. ' ' .. now .. ' ' .. heartbeat .. ' ' .. ttl_ms .. ' ' .. lock
      if redis.call('PUBLISH', inbox, grant) > 0 or elsewhere then
        redis.call('ZREM', line, next_id)
        redis.call('HDEL', waiters, next_id)
        return {2, next_id}
      end
      redis.call('SET', lock, held, 'PX', string.format('%.0f', keep_ms + left_ms))
    end
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
local keys = { lock = lock, line = line, waiters = waiters, banned = banned, elsewhere = elsewhere }
local state = read_lock(lock, held)
if ban_ms > 0 then
  check_line(keys, id)
  redis.call('ZCARD', banned)
  raise_flag(keys, state, now)
  ban(keys, now, id, ban_ms)
end
if state.id == id then
  local lived = state.left_ms > 0
  drop_waiter(keys, id)
  local next_id = hand_over(keys, state, now)
  if next_id then return lived and {2, next_id} or {0} end
  free(lock, state, flag_now(keys), now)
  return {lived and 1 or 0}
end
check_line(keys, id)
local left = redis.call('ZREM', line, id)
left = redis.call('HDEL', waiters, id) + left
if left > 0 and not state.id then
  first_waiter(keys, now, id, function(waiter)
    return redis.call('PUBLISH', waiter.inbox, 'wake ' .. waiter.id) > 0 or elsewhere
  end)
end
return {left > 0 and 3 or 0}
`,
};
