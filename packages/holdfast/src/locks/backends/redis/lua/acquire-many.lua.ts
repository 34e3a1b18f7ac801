// Generated from acquire-many.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/lua/acquire-many",
  sha1: "f7f25ca8e1daff5b7aff817c7554f2a4af5345a8",
  source: `local terms, turns, px = ARGV[1], ARGV[2], ARGV[3]
local time = redis.call('TIME')
local now = string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
local top = turns == '1' and now or string.format('%016.0f', tonumber(now) + tonumber(turns) - 1)
terms = ' ' .. now .. ' ' .. now .. ' ' .. terms
local seen = {}
for place = 1, #KEYS do
  local lock = KEYS[place]
  local state = redis.pcall('GET', lock)
  if not state or (#state == 17 and string.find(state, '^%d+ $') and string.sub(state, 1, 16) < now) then
    redis.call('SET', lock, top .. ' ' .. ARGV[place + 3] .. terms, 'PX', px)
    seen[place] = now .. ARGV[place + 3]
  elseif type(state) == 'string' then
    local keep_ms = tonumber(string.match(string.sub(state, 18), '^%S+ %d+ %d+ (%d+) ')) or 0
    seen[place] = { state, redis.call('PTTL', lock) - keep_ms }
  else
    seen[place] = ''
  end
end
if #KEYS == 1 and type(seen[1]) == 'string' and seen[1] ~= '' then return seen[1] end
seen[#KEYS + 1] = now
return seen
`,
};
