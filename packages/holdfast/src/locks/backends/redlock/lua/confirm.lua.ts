// Generated from confirm.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redlock/lua/confirm",
  sha1: "2b07d538238fb418f9946a4089de01d974bedaa0",
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
local HELD = '^(%S+) (%d+) (%d+) (%d+) (%d+) (.*)$'
local function read_lock(lock, held)
  if held == nil then held = redis.call('GET', lock) end
  if not held then return { top = '0000000000000000', flag = ' ', left_ms = 0 } end
  local top, flag, rest = string.match(held, '^(%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)([ +])(.*)$')
  local id, token, _, keep_ms, ttl_ms = string.match(rest or '', HELD)
  if not top or (rest ~= '' and not id) then
    error({ err = 'WRONGTYPE the key of this lock holds something else: ' .. lock })
  end
  local state = { held = held, top = top, flag = flag, id = id, token = token, left_ms = 0 }
  if id then
    state.ttl_ms, state.keep_ms = tonumber(ttl_ms), tonumber(keep_ms)
    local expiry_ms = redis.call('PTTL', lock)
    local left_ms = expiry_ms - state.keep_ms
    state.astray = left_ms > state.ttl_ms or expiry_ms < 0
    state.left_ms = state.astray and state.ttl_ms or math.max(left_ms, 0)
  end
  return state
end
local function renew(lock, state)
  redis.call('PEXPIRE', lock, text(state.keep_ms + state.ttl_ms))
  state.left_ms, state.astray = state.ttl_ms, false
end
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
local function free(lock, state, flag, now)
  local freed = redis.pcall('SET', lock, state.top .. flag, 'PX', text(keep_ms(state.top, now)))
  if freed.err then
    if not state.id then error(freed) end
    redis.call('PEXPIRE', lock, text(state.keep_ms))
  end
  state.held, state.id, state.left_ms = nil, nil, 0
end
local now = read_clock()
local function confirm(lock, id, stamp, last)
  local state = read_lock(lock)
  if state.left_ms == 0 or state.id ~= id or state.token ~= digits(lock, stamp) then return 0 end -- guard: one unbroken hold
  last = digits(lock, last)
  if last <= state.top then return 1 end
  local keep = text(math.max(keep_ms(last, now), state.keep_ms))
  local since, ttl_ms, owner = string.match(state.held, '^%S+ %d+ (%d+) %d+ (%d+) (.*)$', 18)
  local held = last .. state.flag .. id .. ' ' .. state.token .. ' ' .. since .. ' ' .. keep .. ' ' .. ttl_ms .. ' ' .. owner
  redis.call('SET', lock, held, 'PX', text(keep + state.left_ms))
  return 1
end
local outcomes = {}
for place = 1, #KEYS do
  local ok, outcome = pcall(confirm, KEYS[place], ARGV[3 * place - 2], ARGV[3 * place - 1], ARGV[3 * place])
  outcomes[place] = ok and outcome or 0
end
outcomes[#KEYS + 1] = ARGV[1]
return outcomes
`,
};
