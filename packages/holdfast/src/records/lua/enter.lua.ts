// Generated from enter.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "records/lua/enter",
  sha1: "c49ca6db097f5ed7ddfe6abea07567f911a04be8",
  source: `local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local function alien(key)
  error({ err = 'WRONGTYPE the key of this record holds something else: ' .. key })
end
local function older(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end
local function read_record(key)
  local fields = redis.pcall('HMGET', key, 'version', 'fence', 'holder', 'writes', 'turn')
  if fields.err then
    if string.find(fields.err, 'WRONGTYPE') then alien(key) end
    error(fields)
  end
  local version, fence = fields[1], fields[2]
  if version and not string.match(version, '^%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d$') then alien(key) end
  if fence and not string.match(fence, '^%d+$') then alien(key) end
  if not version and not fence and redis.call('EXISTS', key) == 1 then alien(key) end
  return { version = version, fence = fence, holder = fields[3], writes = fields[4] or '', turn = fields[5] }
end
local function refused_by(record, token, holder)
  local seen = record.fence
  if token == '' or not seen then return nil end
  if older(token, seen) or (token == seen and record.holder ~= holder) then return seen end -- guard: fence of a record
  return nil
end
local day_ms = 86400000
local function keep_without_value(key, record, has_fence, keep, now)
  if has_fence and keep == '' then
    redis.call('PERSIST', key)
    return
  end
  local life = math.max(day_ms, tonumber(keep) or 0)
  if record.version then life = life + math.max(0, (tonumber(record.version) - tonumber(now)) / 1000) end
  redis.call('PEXPIRE', key, string.format('%.0f', math.ceil(life)))
end
local key, token, holder, keep = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local now = read_clock()
local record = read_record(key)
local seen = refused_by(record, token, holder)
if seen then return { 0, seen } end
redis.call('HSET', key, 'fence', token, 'holder', holder)
local value = redis.call('HGET', key, 'value')
if not value then keep_without_value(key, record, true, keep, now) end
return { 1, record.version, value }
`,
};
