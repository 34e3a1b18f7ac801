// Generated from look.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/permits/lua/look",
  sha1: "e40b2738f5b3e8e99120943dd7aca0329e02d101",
  source: `local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local now, most = read_clock(), tonumber(ARGV[1])
local function look(first)
  local line, fields, entries = KEYS[first + 1], {}, {}
  local all = redis.call('HGETALL', KEYS[first])
  for place = 1, #all, 2 do
    if all[place] == '.' or #fields < 2 * most then
      fields[#fields + 1], fields[#fields + 2] = all[place], all[place + 1]
    end
  end
  local ids = redis.call('ZRANGE', line, 0, most - 1)
  local values = #ids > 0 and redis.call('HMGET', KEYS[first + 2], unpack(ids)) or {}
  for place, id in ipairs(ids) do entries[place] = id .. ' ' .. (values[place] or '') end
  local banned = redis.call('ZCOUNT', KEYS[first + 3], string.sub(now, 1, 13), '+inf')
  return { fields, redis.call('ZCARD', line), banned, entries }
end
local rows = { now }
for first = 1, #KEYS, 4 do
  local ok, row = pcall(look, first)
  if not ok and not string.find(type(row) == 'table' and row.err or row, 'WRONGTYPE') then error(row) end
  rows[#rows + 1] = ok and row or {}
end
return rows
`,
};
