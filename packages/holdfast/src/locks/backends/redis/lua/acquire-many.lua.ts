// Generated from acquire-many.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/lua/acquire-many",
  sha1: "147ade6143186dbd834152217caf50dfbfe16ba4",
  source: `local terms, turns, px, common = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local time = redis.call('TIME')
local now = string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
local ahead = common == '0' and now or string.format('%016.0f', tonumber(now) + 10000)
local start = common > now and common < ahead and common or now
local start_top = turns == '1' and start or string.format('%016.0f', tonumber(start) + tonumber(turns) - 1)
terms = ' ' .. now .. ' ' .. terms
local seen = {}
for place = 1, #KEYS do
  local lock = KEYS[place]
  local state = redis.pcall('GET', lock)
  local last = not state and '' or #state == 17 and string.find(state, '^%d+ $') and string.sub(state, 1, 16)
  local token, top = start, start_top
  if last and last >= start and last < ahead then
    token = string.format('%016.0f', tonumber(last) + 1)
    top = string.format('%016.0f', tonumber(last) + tonumber(turns))
  end
  if last and last < token then
    redis.call('SET', lock, top .. ' ' .. ARGV[place + 4] .. ' ' .. token .. terms, 'PX', px)
    seen[place] = token .. ARGV[place + 4]
  elseif type(state) == 'string' then
    local keep_ms = tonumber(string.match(string.sub(state, 18), '^%S+ %d+ %d+ (%d+) ')) or 0
    seen[place] = { state, redis.call('PTTL', lock) - keep_ms }
  else
    seen[place] = ''
  end
end
if #KEYS == 1 and common == '0' and type(seen[1]) == 'string' and seen[1] ~= '' then return seen[1] end
seen[#KEYS + 1] = now
return seen
`,
};
