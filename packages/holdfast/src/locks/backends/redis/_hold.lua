--[[
Granting a lease: what the scripts that may grant share, small enough for the path without contention.

lock   string  "<id> <token> <ttl_ms> <since_ms> <owner>"; its expiry is the end of the lease
fence  string  the highest token handed out or reserved; kept until 24 h after the lease or
       after the clock has moved past it, whichever is later

Clock: the server's, read once per script.
]]
local function read_clock()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- Exact below 2^53; %.0f because %d stops at 2^31 where long has 32 bits.
local function text(number)
  return string.format('%.0f', number)
end

-- Larger than every token handed out or reserved before.
local function next_token(last_token, now_us, floor)
  local last = tonumber(last_token or '0')
  if not last then error('the fence key of this lock holds something else: choose another prefix') end
  local token = math.max(last + 1, now_us, tonumber(floor))
  if token > 9007199254000000 then error('the tokens of this lock are used up: delete its fence key') end
  return token
end

-- Writes the lease and the highest token reserved by it. Every check comes before this.
local function hold(keys, token, now_us, request)
  -- It may be forgotten once the clock has certainly moved past it.
  local ahead_s = math.ceil(math.max(token - now_us, 0) / 1000000 + request.ttl_ms / 1000)
  redis.call('SET', keys.fence, text(token + request.turns - 1), 'EX', text(86400 + ahead_s))
  local digits = text(token)
  local since_ms = text(math.floor(now_us / 1000))
  local held = request.id .. ' ' .. digits .. ' ' .. request.ttl_ms .. ' ' .. since_ms .. ' ' .. request.owner
  redis.call('SET', keys.lock, held, 'PX', request.ttl_ms)
  return digits
end
