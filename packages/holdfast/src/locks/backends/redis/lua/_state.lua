--[[
The state of a lock: one string that holds both the lease and the last token, so that neither can be lost
without the other.

lock  "<top><flag>"                                                    free
      "<top><flag><id> <token> <since> <keep_ms> <ttl_ms> <owner>"     held until keep_ms before the key expires

top, token, since  16 digits, microseconds of the server's clock; as text they sort as numbers do.
      top is the highest token handed out or reserved.
flag  " " certainly nobody waits or is banned; "+" look at line, waiters and banned
owner JSON, for people and for `revoked` messages; opaque to the scripts that grant

A new field also concerns the scripts that write or cut this layout by themselves, because a call of a function costs as much
as their work: acquire-many, release, renew, force-release, and the words that lock-scripts.ts gives to acquire-many. Outside
of the scripts only lock-state.ts reads it, and test/lock-lab.ts.

The key is kept until 24 h after the lease, or after the clock has moved past top, whichever is later. So a
renewal moves the expiry and writes nothing, which a server without memory does not refuse.
Needs _token.lua. Clock: as _clock.lua reads it, and through the expiry of the key.
]]
local HELD = '^(%S+) (%d+) (%d+) (%d+) (%d+) (.*)$'

-- What the key says, or `held`, its value, where it was read before; false where there was none. `left_ms` is 0 when nobody holds:
-- the lease was given back, or has run out.
local function read_lock(lock, held)
  if held == nil then held = redis.call('GET', lock) end
  if not held then return { top = '0000000000000000', flag = ' ', left_ms = 0 } end
  local top, flag, rest = string.match(held, '^(%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)([ +])(.*)$')
  local id, token, _, keep_ms, ttl_ms = string.match(rest or '', HELD)
  if not top or (rest ~= '' and not id) then foreign(lock, held) end
  local state = { held = held, top = top, flag = flag, id = id, token = token, left_ms = 0 }
  if id then
    state.ttl_ms, state.keep_ms = tonumber(ttl_ms), tonumber(keep_ms)
    local expiry_ms = redis.call('PTTL', lock)
    local left_ms = expiry_ms - state.keep_ms
    -- More than its ttl: the clock was set back. No expiry: somebody took it off the key.
    state.astray = left_ms > state.ttl_ms or expiry_ms < 0
    state.left_ms = state.astray and state.ttl_ms or math.max(left_ms, 0)
  end
  return state
end

-- The lease counts from now on.
local function renew(lock, state)
  redis.call('PEXPIRE', lock, text(state.keep_ms + state.ttl_ms))
  state.left_ms, state.astray = state.ttl_ms, false
end

-- Writes the lease, with a token larger than every one handed out or reserved before, and returns the
-- token. Every check comes before this.
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

-- Nobody holds it any more; the last token stays. A server that is out of memory refuses to write, but not
-- to let the lease run out.
local function free(lock, state, flag, now)
  local freed = redis.pcall('SET', lock, state.top .. flag, 'PX', text(keep_ms(state.top, now)))
  if freed.err then
    if not state.id then error(freed) end
    redis.call('PEXPIRE', lock, text(state.keep_ms))
  end
  state.held, state.id, state.left_ms = nil, nil, 0
end
