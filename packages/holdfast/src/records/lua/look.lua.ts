// Generated from look.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "records/lua/look",
  sha1: "d4835daaf4a0673ae2cecafff20a5a345e45203a",
  source: `local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local most = tonumber(ARGV[1])
local function row_of(key)
  local fields = redis.pcall('HMGET', key, 'version', 'fence', 'value')
  if fields.err then
    if string.find(fields.err, 'WRONGTYPE') then return {} end
    error(fields)
  end
  local value = fields[3] or ''
  local row = { redis.call('PTTL', key), #value, fields[1] or '', fields[2] or '' }
  if #value > 0 and #value <= most then row[5] = value end
  return row
end
local rows = { read_clock() }
for place, key in ipairs(KEYS) do rows[place + 1] = row_of(key) end
return rows
`,
};
