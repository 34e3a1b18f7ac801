// Generated from look.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/lua/look",
  sha1: "3bcb126fdf5ed94ffa38bf588a60520125b887f4",
  source: `local most = tonumber(ARGV[1])
local time = redis.call('TIME')
local now = string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
local function look(lock, line, waiters, banned)
  local held = redis.call('GET', lock) or ''
  local waiting = redis.call('ZCARD', line)
  local row = { held, redis.call('PTTL', lock), waiting, redis.call('ZCOUNT', banned, string.sub(now, 1, 13), '+inf') }
  if waiting == 0 then return row end
  local ids = redis.call('ZRANGE', line, 0, most - 1)
  local values = redis.call('HMGET', waiters, unpack(ids))
  for place, id in ipairs(ids) do
    row[#row + 1] = id .. ' ' .. (values[place] or '')
  end
  return row
end
local rows = { now }
for first = 1, #KEYS, 4 do
  local ok, row = pcall(look, KEYS[first], KEYS[first + 1], KEYS[first + 2], KEYS[first + 3])
  if not ok and not string.find(type(row) == 'table' and row.err or row, 'WRONGTYPE') then error(row) end
  rows[#rows + 1] = ok and row or {}
end
return rows
`,
};
