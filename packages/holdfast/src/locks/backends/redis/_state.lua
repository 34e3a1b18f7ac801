--[[
The state of a lock: one string that holds both the lease and the last token, so that neither can be lost
without the other.

lock  "<top><flag>"                                                    free
      "<top><flag><id> <token> <since> <renewed> <ttl_ms> <owner>"     held until ttl_ms after renewed

top, token, since, renewed  16 digits, microseconds of the server's clock; as text they sort as numbers do.
      top is the highest token handed out or reserved.
flag  " " certainly nobody waits or is banned; "+" look at line, waiters and gone
owner JSON, for people and for `revoked` messages; opaque to the scripts that grant

The key is kept until 24 h after the lease, or after the clock has moved past top, whichever is later.
Clock: the server's, read once per script, as 16 digits.
]]
local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end

-- Exact below 2^53; %.0f because %d stops at 2^31 where long has 32 bits.
local function text(number)
  return string.format('%.0f', number)
end

local function digits(number)
  return string.format('%016.0f', number)
end

local HELD = '^(%S+) (%d+) (%d+) (%d+) (%d+) (.*)$'

-- What the key says. `left_ms` is 0 when nobody holds: the lease was given back, or has run out.
local function read_lock(lock, now)
  local held = redis.call('GET', lock)
  if not held then return { top = 0, flag = ' ', left_ms = 0 } end
  local top, flag, rest = string.match(held, '^(%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)([ +])(.*)$')
  local id, token, _, renewed, ttl_ms = string.match(rest or '', HELD)
  if not top or (rest ~= '' and not id) then
    error('the key of this lock holds something else, choose another prefix: ' .. lock)
  end
  local state = { held = held, top = tonumber(top), flag = flag, id = id, token = token, left_ms = 0 }
  if id then
    state.ttl_ms = tonumber(ttl_ms)
    local left_ms = state.ttl_ms + math.ceil((tonumber(renewed) - tonumber(now)) / 1000)
    -- Renewed in the future: the clock was set back.
    state.ahead = left_ms > state.ttl_ms
    state.left_ms = math.max(math.min(left_ms, state.ttl_ms), 0)
  end
  return state
end

local function keep_s(ttl_ms, top, now)
  return text(86400 + math.ceil(ttl_ms / 1000 + math.max(top - tonumber(now), 0) / 1000000))
end

-- The lease counts from now on.
local function renew(lock, state, now)
  local from = 17 + #state.id + 36
  local renewed = string.sub(state.held, 1, from - 1) .. now .. string.sub(state.held, from + 16)
  redis.call('SET', lock, renewed, 'EX', keep_s(state.ttl_ms, state.top, now))
  state.held, state.left_ms, state.ahead = renewed, state.ttl_ms, false
end

-- Writes the lease, with a token larger than every one handed out or reserved before, and returns the
-- token. Every check comes before this.
local function hold(lock, state, flag, now, request)
  local token = math.max(state.top + 1, tonumber(now), tonumber(request.floor))
  if token > 9007199254000000 then error('the tokens of this lock are used up, delete its key: ' .. lock) end
  state.top = token + request.turns - 1
  state.held = digits(state.top) .. flag .. request.id .. ' ' .. digits(token) .. ' ' .. now .. ' ' .. now
    .. ' ' .. request.ttl_ms .. ' ' .. request.owner
  redis.call('SET', lock, state.held, 'EX', keep_s(request.ttl_ms, state.top, now))
  state.id, state.left_ms = request.id, request.ttl_ms
  return digits(token)
end

-- Nobody holds it any more; the last token stays. A server that is out of memory refuses to write, but not
-- to delete: a token that the clock has passed may be forgotten.
local function free(lock, state, flag, now)
  local freed = redis.pcall('SET', lock, digits(state.top) .. flag, 'EX', keep_s(0, state.top, now))
  if freed.err then
    if flag ~= ' ' or state.top >= tonumber(now) then error(freed) end
    redis.call('DEL', lock)
  end
  state.held, state.id, state.left_ms = nil, nil, 0
end
