// Generated from state.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "queues/lua/state",
  sha1: "5139d4d21865fcf46dd88eb063b521fb0cccc22a",
  source: `local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local KEYS_OF_ONE = 9
local now = tonumber(read_clock())
local function age_ms(line, skew)
  local number = tonumber(redis.call('LINDEX', line, 0) or '')
  if not number then return -1 end
  return math.floor(math.max(0, now + skew - number) / 1000)
end
local function state_of(first)
  local about, line, away, idle = KEYS[first], KEYS[first + 1], KEYS[first + 3], KEYS[first + 4]
  local later, again, dead = KEYS[first + 5], KEYS[first + 6], KEYS[first + 7]
  local fields = redis.call('HMGET', about, 'order', 'paused', 'skew')
  local free, rows = 0, redis.call('ZRANGE', idle, 0, -1, 'WITHSCORES')
  for place = 2, #rows, 2 do free = free - tonumber(rows[place]) end
  return {
    redis.call('EXISTS', about), fields[1] or '', fields[2] and 1 or 0, redis.call('LLEN', line) / 2, redis.call('ZCARD', again), redis.call('ZCARD', later),
    redis.call('ZCARD', away), redis.call('ZCARD', dead), free, #rows / 2, age_ms(line, tonumber(fields[3] or '0')),
  }
end
local entries = {}
for first = 1, #KEYS, KEYS_OF_ONE do
  local is_read, entry = pcall(state_of, first)
  if is_read then
    entries[#entries + 1] = entry
  else
    local text = type(entry) == 'table' and entry.err or tostring(entry)
    if not string.find(text, 'WRONGTYPE') then error(entry) end
    entries[#entries + 1] = 0
  end
end
return entries
`,
};
