// Generated from take.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/take",
  sha1: "7f9e99282765e7f444d52fcf43518edfaadf2c36",
  source: `local owner, ttl_ms, turns, keep_s = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local time = redis.call('TIME')
local now = string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
local top = turns == '1' and now or string.format('%016.0f', tonumber(now) + tonumber(turns) - 1)
local terms = ' ' .. now .. ' ' .. now .. ' ' .. now .. ' ' .. ttl_ms .. ' ' .. owner
local seen = {}
for place = 1, #KEYS do
  local lock = KEYS[place]
  local state = redis.pcall('GET', lock)
  if not state or (#state == 17 and string.find(state, '^%d+ $') and string.sub(state, 1, 16) < now) then
    redis.call('SET', lock, top .. ' ' .. ARGV[place + 4] .. terms, 'EX', keep_s)
    state = now
  end
  seen[place] = type(state) == 'string' and state or ''
end
if #KEYS == 1 and seen[1] == now then return now end
seen[#KEYS + 1] = now
return seen
`,
};
