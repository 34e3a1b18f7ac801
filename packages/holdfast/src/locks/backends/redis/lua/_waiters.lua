--[[
The line of a name: who waits, in which order, and who of them lives. Needs text() of _token.lua.

line     zset    waiter id -> ticket; lowest ticket first
waiters  hash    waiter id -> "<seen_ms> <ttl_ms> <heartbeat> <turns> <min_fence> <inbox> <owner>"

<turns> is what the waiter wants: the tokens of a mutex, or "<permits>/<tokens>" of a semaphore. <owner> is JSON and opaque here.
A waiter lives while the server heard of it less than its ttl_ms ago. Its process asks every third of that, and when the lease can be over
that the last answer told of. So a waiter that becomes the first in line does not know when a lease ends that has just begun.
]]
local function drop_waiter(keys, id)
  keys.kept_ms = 0
  redis.call('ZREM', keys.line, id)
  redis.call('HDEL', keys.waiters, id)
end

local WAITER = '^(%d+) (%d+) (%d+) (%d+)/?(%d*) (%d+) (%S+) (.*)$'

-- Raises WRONGTYPE, before anything is written, where another program owns a key of the line.
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
  -- The keys of the line outlive their waiters, whose own leases are shorter, but not by much. Both are set together, so that their
  -- expiries agree, and by a ttl more than is needed, so that most waiters need not set them.
  local waiters_ms, line_ms = redis.call('PTTL', keys.waiters), redis.call('PTTL', keys.line)
  if math.min(waiters_ms, line_ms) >= request.ttl_ms * 3 then return end
  local keep_ms = text(math.max(waiters_ms, line_ms, request.ttl_ms * 4))
  redis.call('PEXPIRE', keys.waiters, keep_ms)
  redis.call('PEXPIRE', keys.line, keep_ms)
end

-- Nil where there is no entry, or one that holdfast did not write: such a waiter counts as dead.
local function parse_waiter(id, entry)
  if not entry then return nil end
  local seen_ms, ttl_ms, heartbeat, turns, tokens, min_fence, inbox, owner = string.match(entry, WAITER)
  if not seen_ms then return nil end
  return {
    id = id, seen_ms = tonumber(seen_ms), ttl_ms = tonumber(ttl_ms), heartbeat = heartbeat,
    turns = tonumber(turns), tokens = tonumber(tokens), min_fence = min_fence, inbox = inbox, owner = owner,
  }
end

local function read_waiter(keys, id)
  return parse_waiter(id, redis.call('HGET', keys.waiters, id))
end

--- @include "_sign.lua"
-- Whether this waiter asks before a lease of ttl_ms is over that begins now.
local function asks_within(now, waiter, ttl_ms)
  local sign_ms = waiter.seen_ms + waiter.ttl_ms * SIGN_SHARE - tonumber(now) / 1000
  return sign_ms >= 0 and sign_ms <= ttl_ms
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

-- The first waiter in line that lives and `is_there`. The others before it leave the line.
local function first_waiter(keys, now, self_id, is_there)
  while true do
    local id = redis.call('ZRANGE', keys.line, 0, 0)[1]
    if not id then return nil end
    local waiter = read_waiter(keys, id)
    if waiter and (id == self_id or (lives(keys, now, waiter) and is_there(keys, waiter))) then
      return waiter
    end
    drop_waiter(keys, id)
  end
end

-- The first waiter in line, where it must hear that a lease of ttl_ms begins now. Nil: it asks in time by itself, or is self_id, which
-- hears it in the reply, or nobody is there.
local function unaware_waiter(keys, now, ttl_ms, self_id, is_there)
  local waiter = first_waiter(keys, now, self_id, is_there)
  local is_aware = not waiter or waiter.id == self_id or asks_within(now, waiter, ttl_ms)
  return not is_aware and waiter or nil
end
