--[[
The line of a lock, and how a free lock passes to it. Needs _hold.lua, which says what lock and fence are.

line     zset    waiter id -> ticket; lowest ticket first
waiters  hash    waiter id -> "<seen_ms> <ttl_ms> <beat> <turns> <floor> <inbox> <owner>"
gone     zset    id that gave up -> end of its ban in ms: a late copy of its request must not take the lock

<owner> is JSON and opaque here. A waiter lives while the server heard of it less than its ttl_ms ago.
A clock set back must neither keep the dead alive nor hold a lease longer than its ttl: both are clamped
where they are met.
]]
local function is_held_by(held, id)
  return held and string.sub(held, 1, #id + 1) == id .. ' '
end

local function token_of(held)
  return string.match(held, '^%S+ (%d+) ')
end

-- How long the lease has still to run. One that would outlive its own ttl is cut back to it.
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
  -- The keys of the line outlive its waiters, whose own leases are shorter, but not by much.
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
    -- The clock was set back: count this waiter's silence from now.
    write_waiter(keys, now_us, waiter)
    return true
  end
  return silent_ms < waiter.ttl_ms
end

-- The first waiter in line that lives and that `reach` can tell. The dead and the deaf leave the line.
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

-- Gives the free lock to the first waiter in line. Returns its id and token, or nil: nobody is there.
-- Written first, told second: a server that refuses the write (OOM, READONLY) has then told nobody. Where
-- nobody listens the process is gone, and the next one is tried.
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
