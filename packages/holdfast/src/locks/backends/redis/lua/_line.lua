--[[
The line of a lock, and how a free lock passes to it. Needs _state.lua, which says what lock is.

line, waiters    see _waiters.lua
banned   zset    id that gave up -> end of its ban in ms: a late copy of its request must not take the lock

elsewhere  true: a process may listen at a server that this script does not see, so that nobody who listens here
           does not mean that it is gone

A clock set back must neither keep the dead alive nor hold a lease longer than its ttl: both are clamped
where they are met. Whoever writes into line, waiters or banned has raised the flag of the lock before.
]]
--- @include "../../../../redis/lua/_message.lua"
--- @include "_waiters.lua"
-- Nobody may take the lock any more without a look at the line.
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

-- Whether anybody is left to look for.
local function flag_now(keys)
  return redis.call('EXISTS', keys.waiters, keys.banned) > 0 and '+' or ' '
end

-- Tells the process of a waiter that the lock is its own. False: nobody listens there.
local function tell(keys, waiter, token)
  local message = 'grant ' .. waiter.id .. ' ' .. token .. ' ' .. waiter.heartbeat
  message = message .. ' ' .. waiter.ttl_ms .. ' ' .. keys.lock
  return send(waiter.inbox, '', message) > 0 or keys.elsewhere
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
