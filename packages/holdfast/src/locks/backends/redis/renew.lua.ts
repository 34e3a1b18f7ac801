// Generated from renew.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/renew",
  sha1: "0461c7504140d3510b5f76542dbf2e7628a34eaa",
  source: `local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local function text(number)
  return string.format('%.0f', number)
end
local function digits(number)
  return string.format('%016.0f', number)
end
local HELD = '^(%S+) (%d+) (%d+) (%d+) (%d+) (.*)$'
local function read_lock(lock)
  local held = redis.call('GET', lock)
  if not held then return { top = 0, flag = ' ', left_ms = 0 } end
  local top, flag, rest = string.match(held, '^(%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)([ +])(.*)$')
  local id, token, _, keep_ms, ttl_ms = string.match(rest or '', HELD)
  if not top or (rest ~= '' and not id) then
    error('the key of this lock holds something else, choose another prefix: ' .. lock)
  end
  local state = { held = held, top = tonumber(top), flag = flag, id = id, token = token, left_ms = 0 }
  if id then
    state.ttl_ms, state.keep_ms = tonumber(ttl_ms), tonumber(keep_ms)
    local expiry_ms = redis.call('PTTL', lock)
    local left_ms = expiry_ms - state.keep_ms
    state.astray = left_ms > state.ttl_ms or expiry_ms < 0
    state.left_ms = state.astray and state.ttl_ms or math.max(left_ms, 0)
  end
  return state
end
local function keep_ms(top, now)
  return 86400000 + math.ceil(math.max(top - tonumber(now), 0) / 1000)
end
local function renew(lock, state)
  redis.call('PEXPIRE', lock, text(state.keep_ms + state.ttl_ms))
  state.left_ms, state.astray = state.ttl_ms, false
end
local function hold(lock, state, flag, now, request)
  local token = math.max(state.top + 1, tonumber(now), tonumber(request.floor))
  if token > 9007199254000000 then error('the tokens of this lock are used up, delete its key: ' .. lock) end
  state.top = token + request.turns - 1
  state.id, state.ttl_ms, state.left_ms = request.id, request.ttl_ms, request.ttl_ms
  state.keep_ms = keep_ms(state.top, now)
  state.held = digits(state.top) .. flag .. request.id .. ' ' .. digits(token) .. ' ' .. now .. ' '
    .. text(state.keep_ms) .. ' ' .. request.ttl_ms .. ' ' .. request.owner
  redis.call('SET', lock, state.held, 'PX', text(state.keep_ms + request.ttl_ms))
  return digits(token)
end
local function free(lock, state, flag, now)
  local freed = redis.pcall('SET', lock, digits(state.top) .. flag, 'PX', text(keep_ms(state.top, now)))
  if freed.err then
    if flag ~= ' ' or state.top >= tonumber(now) then error(freed) end
    redis.call('DEL', lock)
  end
  state.held, state.id, state.left_ms = nil, nil, 0
end
local outcomes = {}
for place = 1, #KEYS do
  local known, state = pcall(read_lock, KEYS[place])
  local mine = known and state.id == ARGV[place] and state.left_ms > 0
  if mine then renew(KEYS[place], state) end
  outcomes[place] = mine and 1 or 0
end
return outcomes
`,
};
