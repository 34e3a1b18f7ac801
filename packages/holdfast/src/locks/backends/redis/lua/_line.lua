--[[
The line of a lock, and how a free lock passes to it. Needs _state.lua, which says what lock is.

line     zset    waiter id -> ticket; lowest ticket first
waiters  hash    waiter id -> "<seen_ms> <ttl_ms> <heartbeat> <turns> <min_fence> <inbox> <owner>"
banned   zset    id that gave up -> end of its ban in ms: a late copy of its request must not take the lock

elsewhere  true: a process may listen at a server that this script does not see, so that nobody who listens here
           does not mean that it is gone

<owner> is JSON and opaque here. A waiter lives while the server heard of it less than its ttl_ms ago.
A clock set back must neither keep the dead alive nor hold a lease longer than its ttl: both are clamped
where they are met. Whoever writes into line, waiters or banned has raised the flag of the lock before.
]]
local function drop_waiter(keys, id)
  redis.call('ZREM', keys.line, id)
  redis.call('HDEL', keys.waiters, id)
end

local WAITER = '^(%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (.*)$'

-- Nobody may take the lock any more without a look at the line.
local function raise_flag(keys, state, now)
  -- mutation: cost (never), because a flag that is up is written once more
  if state.flag == '+' then return end
  if state.held then
    redis.call('SETRANGE', keys.lock, 16, '+')
    state.held = string.sub(state.held, 1, 16) .. '+' .. string.sub(state.held, 18)
  else
    free(keys.lock, state, '+', now)
  end
  state.flag = '+'
end

-- Whether anybody is left to look for.
local function flag_now(keys)
  return redis.call('EXISTS', keys.waiters, keys.banned) > 0 and '+' or ' '
end

-- Raises WRONGTYPE, before anything is written, where another program owns a key of the line.
local function check_line(keys, id)
  redis.call('HEXISTS', keys.waiters, id)
  redis.call('ZCARD', keys.line)
end

local function write_waiter(keys, now, request)
  redis.call('HSET', keys.waiters, request.id, table.concat({
    text(math.floor(tonumber(now) / 1000)), request.ttl_ms, request.heartbeat, request.turns, request.min_fence,
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

-- Nil where there is no entry, or one that holdfast did not write: such a waiter counts as dead.
local function read_waiter(keys, id)
  local entry = redis.call('HGET', keys.waiters, id)
  if not entry then return nil end
  local seen_ms, ttl_ms, heartbeat, turns, min_fence, inbox, owner = string.match(entry, WAITER)
  if not seen_ms then return nil end
  return {
    id = id, seen_ms = tonumber(seen_ms), ttl_ms = tonumber(ttl_ms), heartbeat = heartbeat,
    turns = tonumber(turns), min_fence = min_fence, inbox = inbox, owner = owner,
  }
end

local function lives(keys, now, waiter)
  local silent_ms = math.floor(tonumber(now) / 1000) - waiter.seen_ms
  if silent_ms < 0 then
    -- The clock was set back: count this waiter's silence from now.
    write_waiter(keys, now, waiter)
    return true
  end
  return silent_ms < waiter.ttl_ms
end

-- The first waiter in line that lives and that `reach` can tell. The dead and the deaf leave the line.
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

-- Gives the free lock to the first waiter in line. Returns its id and token, or nil: nobody is there.
-- Written first, told second: a server that refuses the write (OOM, READONLY) has then told nobody. Where
-- nobody listens the process is gone, and the next one is tried, with a higher token; unless it may listen elsewhere.
local function hand_over(keys, state, now, self_id)
  local written = false
  local token
  local waiter = first_waiter(keys, now, self_id, function(candidate)
    token = hold(keys.lock, state, '+', now, candidate)
    written = true
    local message = 'grant ' .. candidate.id .. ' ' .. token .. ' ' .. candidate.heartbeat
    message = message .. ' ' .. candidate.ttl_ms .. ' ' .. keys.lock
    return redis.call('PUBLISH', candidate.inbox, message) > 0 or keys.elsewhere
  end)
  if not waiter then
    -- mutation: cost (always), because a free lock is written as free once more
    if written then free(keys.lock, state, '+', now) end
    return nil
  end
  if waiter.id == self_id then token = hold(keys.lock, state, '+', now, waiter) end
  drop_waiter(keys, waiter.id)
  return waiter.id, token
end
