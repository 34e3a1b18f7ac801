// Generated from renew.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/permits/lua/renew",
  sha1: "6b20ccf8a2e11ee78a610a466b637683b79bc026",
  source: `local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local function text(number)
  return string.format('%.0f', number)
end
local function digits(lock, number)
  if #number > 16 or not string.find(number, '^%d+$') then
    error({ err = 'ERR a token has at most 16 digits: ' .. lock })
  end
  return string.rep('0', 16 - #number) .. number
end
local function add(lock, token, count)
  local low = tonumber(string.sub(token, 9)) + count
  local high = tonumber(string.sub(token, 1, 8)) + math.floor(low / 100000000)
  if high > 99999999 then error({ err = 'ERR the tokens of this lock are used up, delete its key: ' .. lock }) end
  return string.format('%08.0f%08.0f', high, low % 100000000)
end
local function keep_ms(top, now)
  return 86400000 + math.ceil(math.max(tonumber(top) - tonumber(now), 0) / 1000)
end
local function next_token(lock, top, now, min_fence)
  local token = now
  if min_fence ~= '0' then
    local least = digits(lock, min_fence)
    if least > token then token = least end
  end
  if token <= top then token = add(lock, top, 1) end -- guard: token rises
  return token
end
local now = read_clock()
local ms = math.floor(tonumber(now) / 1000)
local outcomes = {}
for place = 1, #KEYS do
  local permits, id = KEYS[place], ARGV[place]
  local values = redis.pcall('HMGET', permits, '.', id)
  local head, lease = not values.err and values[1] or nil, not values.err and values[2] or nil
  outcomes[place] = (values.err or head) and 0 or -1
  local end_ms, rest, ttl_ms = string.match(lease or '', '^(%d+)( %d+ %d+ %d+ (%d+) .*)$')
  if head and end_ms and (tonumber(end_ms) > ms or string.sub(head, 18, 18) == '0') then
    local keep = keep_ms(string.sub(head, 1, 16), now) + tonumber(ttl_ms)
    redis.call('PEXPIRE', permits, text(math.max(redis.call('PTTL', permits), keep)))
    redis.call('HSET', permits, id, text(ms + tonumber(ttl_ms)) .. rest)
    outcomes[place] = 1
  end
end
outcomes[#KEYS + 1] = ARGV[1]
return outcomes
`,
};
