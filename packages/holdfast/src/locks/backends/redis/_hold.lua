--[[
Granting a lease: what the scripts that may grant share, small enough for the path without contention.

lock   string  "<id> <token> <ttl_ms> <since_ms> <owner>"; its expiry is the end of the lease
fence  string  the highest token handed out or reserved; kept 24 h, then the clock has moved past it

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
  return math.max(last + 1, now_us, tonumber(floor))
end

-- Writes the lease and the highest token reserved by it. Every check comes before this.
local function hold(keys, token, now_us, request)
  redis.call('SET', keys.fence, text(token + request.turns - 1), 'EX', 86400)
  local digits = text(token)
  local since_ms = text(math.floor(now_us / 1000))
  local held = request.id .. ' ' .. digits .. ' ' .. request.ttl_ms .. ' ' .. since_ms .. ' ' .. request.owner
  redis.call('SET', keys.lock, held, 'PX', request.ttl_ms)
  return digits
end
