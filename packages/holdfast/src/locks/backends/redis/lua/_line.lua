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
--- @include "../../../../redis/lua/_listens.lua"
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

-- The process of a waiter that does not listen is gone.
local function is_there(keys, waiter)
  return keys.elsewhere or listens(waiter.inbox)
end

-- Tells the process of a waiter that the lock is its own. False: this user may not, and so nobody has heard it.
local function tell(keys, waiter, token)
  local message = 'grant ' .. waiter.id .. ' ' .. token .. ' ' .. waiter.heartbeat
  local _, is_refused = send(waiter.inbox, '', message .. ' ' .. waiter.ttl_ms .. ' ' .. keys.lock)
  return not is_refused
end

-- Has the first waiter in line ask, once a lease of ttl_ms has begun, where it would ask too late by itself.
local function wake_first(keys, now, ttl_ms, self_id)
  local waiter = unaware_waiter(keys, now, ttl_ms, self_id, is_there)
  if waiter then send(waiter.inbox, '', 'wake ' .. waiter.id) end
end

-- Gives the free lock to the first waiter in line, and wakes the next where needed. Returns its id and token, or nil: nobody is there.
-- Written first, told second: a server that refuses the write (OOM, READONLY) has then told nobody.
local function hand_over(keys, state, now, self_id)
  while true do
    local waiter = first_waiter(keys, now, self_id, is_there)
    if not waiter then return nil end
    local token = hold(keys.lock, state, '+', now, waiter)
    drop_waiter(keys, waiter.id)
    if waiter.id == self_id or tell(keys, waiter, token) then
      wake_first(keys, now, waiter.ttl_ms, self_id)
      return waiter.id, token
    end
    free(keys.lock, state, '+', now)
  end
end
