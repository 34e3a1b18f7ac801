// Generated from release.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/release",
  sha1: "df3b19d86c4127329fcbac3d275c948d0df56c0b",
  source: `local lock, fence, line, waiters, gone = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local id, ban_ms, barging = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local held = redis.call('GET', lock)
local mine = held and string.sub(held, 1, #id + 1) == id .. ' '
local crowded = redis.call('EXISTS', waiters) == 1
if mine and not crowded and ban_ms == 0 then
  redis.call('DEL', lock)
  return {1}
end
local function read_clock()
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
local keys = { lock = lock, fence = fence, line = line, waiters = waiters, gone = gone }
redis.call('HEXISTS', waiters, id)
redis.call('ZCARD', line)
local now_us = read_clock()
if ban_ms > 0 then
  local now_ms = math.floor(now_us / 1000)
  redis.call('ZREMRANGEBYSCORE', gone, '-inf', now_ms)
  redis.call('ZADD', gone, text(now_ms + ban_ms), id)
  if redis.call('PTTL', gone) < ban_ms then
    redis.call('PEXPIRE', gone, ban_ms)
  end
end
if mine then
  if barging then
    first_waiter(keys, now_us, id, function(waiter)
      return redis.call('PUBLISH', waiter.inbox, 'wake ' .. waiter.id) > 0
    end)
  else
    local next_id = hand_over(keys, now_us, id)
    if next_id then return {2, next_id} end
  end
  redis.call('DEL', lock)
  return {1}
end
local left = redis.call('ZREM', line, id)
left = redis.call('HDEL', waiters, id) + left
return {left > 0 and 3 or 0}
`,
};
