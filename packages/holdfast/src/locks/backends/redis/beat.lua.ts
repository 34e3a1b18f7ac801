// Generated from beat.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/beat",
  sha1: "849de3f1ca361dbde61a940e85fa51997251e4fa",
  source: `local function read_clock()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local function text(number)
  return string.format('%.0f', number)
end
local function next_token(last_token, now_us, floor)
  local last = tonumber(last_token or '0')
  if not last then error('the fence key of this lock holds something else: choose another prefix') end
  local token = math.max(last + 1, now_us, tonumber(floor))
  if token > 9007199254000000 then error('the tokens of this lock are used up: delete its fence key') end
  return token
end
local function hold(keys, token, now_us, request)
  local ahead_s = math.ceil(math.max(token - now_us, 0) / 1000000 + request.ttl_ms / 1000)
  redis.call('SET', keys.fence, text(token + request.turns - 1), 'EX', text(86400 + ahead_s))
  local digits = text(token)
  local since_ms = text(math.floor(now_us / 1000))
  local held = request.id .. ' ' .. digits .. ' ' .. request.ttl_ms .. ' ' .. since_ms .. ' ' .. request.owner
  redis.call('SET', keys.lock, held, 'PX', request.ttl_ms)
  return digits
end
local function is_held_by(held, id)
  return held and string.sub(held, 1, #id + 1) == id .. ' '
end
local function token_of(held)
  return string.match(held, '^%S+ (%d+) ')
end
local function remaining_ms(keys, held)
  local left = redis.call('PTTL', keys.lock)
  local ttl_ms = tonumber(string.match(held, '^%S+ %d+ (%d+) %d+ '))
  if not ttl_ms then
    return redis.error_reply('ERR the key of this lock holds something else, choose another prefix: ' .. keys.lock)
  end
  if left > ttl_ms or left < 0 then
    redis.call('PEXPIRE', keys.lock, ttl_ms)
    left = ttl_ms
  end
  return left
end
local function drop_waiter(keys, id)
  redis.call('ZREM', keys.line, id)
  redis.call('HDEL', keys.waiters, id)
end
local WAITER = '^(%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (.*)$'
local function write_waiter(keys, now_us, request)
  redis.call('HSET', keys.waiters, request.id, table.concat({
    text(math.floor(now_us / 1000)), request.ttl_ms, request.beat, request.turns, request.floor,
    request.inbox, request.owner,
  }, ' '))
  local keep_ms = request.ttl_ms * 3
  if redis.call('PTTL', keys.waiters) < keep_ms then
    redis.call('PEXPIRE', keys.waiters, keep_ms)
  end
  if redis.call('PTTL', keys.line) < keep_ms then
    redis.call('PEXPIRE', keys.line, keep_ms)
  end
end
local function read_waiter(keys, id)
  local entry = redis.call('HGET', keys.waiters, id)
  if not entry then return nil end
  local seen_ms, ttl_ms, beat, turns, floor, inbox, owner = string.match(entry, WAITER)
  return {
    id = id, seen_ms = tonumber(seen_ms), ttl_ms = tonumber(ttl_ms), beat = beat,
    turns = tonumber(turns), floor = floor, inbox = inbox, owner = owner,
  }
end
local function lives(keys, now_us, waiter)
  local silent_ms = math.floor(now_us / 1000) - waiter.seen_ms
  if silent_ms < 0 then
    write_waiter(keys, now_us, waiter)
    return true
  end
  return silent_ms < waiter.ttl_ms
end
local function first_waiter(keys, now_us, self_id, reach)
  while true do
    local id = redis.call('ZRANGE', keys.line, 0, 0)[1]
    if not id then return nil end
    local waiter = read_waiter(keys, id)
    if waiter and (id == self_id or (lives(keys, now_us, waiter) and reach(waiter))) then
      return waiter
    end
    drop_waiter(keys, id)
  end
end
local function hand_over(keys, now_us, self_id)
  local written = false
  local token
  local waiter = first_waiter(keys, now_us, self_id, function(candidate)
    token = hold(keys, next_token(redis.call('GET', keys.fence), now_us, candidate.floor), now_us, candidate)
    written = true
    local message = 'grant ' .. candidate.id .. ' ' .. token .. ' ' .. candidate.beat
    return redis.call('PUBLISH', candidate.inbox, message .. ' ' .. candidate.ttl_ms .. ' ' .. keys.lock) > 0
  end)
  if not waiter then
    if written then redis.call('DEL', keys.lock) end
    return nil
  end
  if waiter.id == self_id then
    token = hold(keys, next_token(redis.call('GET', keys.fence), now_us, waiter.floor), now_us, waiter)
  end
  drop_waiter(keys, waiter.id)
  return waiter.id, token
end
local now_us = read_clock()
local function keys_from(first)
  return {
    lock = KEYS[first],
    fence = KEYS[first + 1],
    line = KEYS[first + 2],
    waiters = KEYS[first + 3],
    gone = KEYS[first + 4],
  }
end
local function beat(keys, id, number)
  local held = redis.call('GET', keys.lock)
  redis.call('GET', keys.fence)
  local waiter = read_waiter(keys, id)
  if is_held_by(held, id) then
    local ttl_ms = string.match(held, '^%S+ %d+ (%d+) ')
    redis.call('PEXPIRE', keys.lock, ttl_ms)
    return {1, token_of(held)}
  end
  local ticket = redis.call('ZSCORE', keys.line, id)
  if not waiter or not ticket then
    return {3}
  end
  waiter.beat = number
  write_waiter(keys, now_us, waiter)
  if not held then
    local next_id, token = hand_over(keys, now_us, id)
    if next_id == id then return {1, token} end
    held = redis.call('GET', keys.lock)
  end
  local left_ms = remaining_ms(keys, held)
  if type(left_ms) == 'table' then return {3} end
  return {2, left_ms, held, redis.call('ZRANK', keys.line, id), text(tonumber(ticket))}
end
local outcomes = {}
for place = 1, #ARGV / 2 do
  local ok, outcome = pcall(beat, keys_from(5 * place - 4), ARGV[2 * place - 1], ARGV[2 * place])
  outcomes[place] = ok and outcome or {3}
end
return outcomes
`,
};
