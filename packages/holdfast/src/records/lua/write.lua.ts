// Generated from write.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "records/lua/write",
  sha1: "f2ab4aaa55f0419accf5fd3492eda5a9c37c6a1c",
  source: `local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local function next_version(previous, now)
  local version, last = tonumber(now), tonumber(previous or '0')
  if version <= last then version = last + 1 end -- guard: version rises
  if version > 9007199254000000 then error({ err = 'ERR the versions of this object are used up, delete its key' }) end
  return string.format('%016.0f', version)
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
local writer, number, since, hold = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local together = ARGV[5] == '1'
local first_of = function(place) return place * 6 end
local minute_us, longest_writes, longest_turn_us, largest_told = 60000000, 6000, 10000000, 8192
local function last_write(writes)
  local _, to = string.find(writes, ';' .. writer .. ' ', 1, true)
  if not to then return nil end
  local last, version = string.match(writes, '^(%d+) (%d+)', to + 1)
  return tonumber(last), version
end
local function earlier(record)
  local last, version = last_write(record.writes)
  if not last or last < number then return nil end -- guard: copy of a write
  return last == number and { 1, version } or { -2 }
end
local function with_write(writes, version, now)
  local from, to = string.find(writes, ';' .. writer .. ' ', 1, true)
  if from then
    local _, last = string.find(writes, '^%d+ %d+', to + 1)
    writes = string.sub(writes, 1, from - 1) .. string.sub(writes, last + 1)
  end
  local oldest = string.match(writes, '^;%S+ %d+ (%d+)')
  while oldest and (tonumber(oldest) < tonumber(now) - minute_us or #writes > longest_writes) do
    writes = string.gsub(writes, '^;[^;]*', '')
    oldest = string.match(writes, '^;%S+ %d+ (%d+)')
  end
  return writes .. ';' .. writer .. ' ' .. string.format('%.0f', number) .. ' ' .. version
end
local function turn_of_another(record, now)
  if since == '' or not record.turn then return 0 end
  local who, its_since, till = string.match(record.turn, '^(%S+) (%d+) (%d+)$')
  if not who or who == writer or (since ~= '0' and older(since, its_since)) then return 0 end
  local left = tonumber(till) - tonumber(now)
  if left <= 0 or left > longest_turn_us then return 0 end
  return left
end
local function judge(key, first, record, now)
  local expected, token, holder = ARGV[first + 1], ARGV[first + 2], ARGV[first + 3]
  local seen = refused_by(record, token, holder)
  if seen then return { 0, seen } end
  if expected == '' then return nil end
  local version, left = record.version or '0', turn_of_another(record, now)
  local is_met = version == expected
  if expected == 'none' then is_met = redis.call('HEXISTS', key, 'value') == 0 end
  if is_met and left == 0 then return nil end
  if left == 0 and since ~= '' and since ~= '0' and record.version then
    local till = math.min(tonumber(hold), longest_turn_us) + tonumber(now)
    redis.call('HSET', key, 'turn', writer .. ' ' .. since .. ' ' .. string.format('%.0f', till))
  end
  return { -1, version, redis.call('HGET', key, 'value'), left, now }
end
local function write(key, first, record, now)
  local value, token, holder, keep = ARGV[first], ARGV[first + 2], ARGV[first + 3], ARGV[first + 4]
  local has_fence = token ~= '' or record.fence
  if value == '' and redis.call('HEXISTS', key, 'value') == 0 then
    if token ~= '' then
      redis.call('HSET', key, 'fence', token, 'holder', holder)
      keep_without_value(key, record, has_fence, keep, now)
    end
    return { 3 }
  end
  local version = next_version(record.version, now)
  local fields = { 'version', version, 'writes', with_write(record.writes, version, now) }
  if token ~= '' then
    fields[5], fields[6], fields[7], fields[8] = 'fence', token, 'holder', holder
  end
  if value ~= '' then
    fields[#fields + 1], fields[#fields + 2] = 'value', value
  end
  redis.call('HSET', key, unpack(fields))
  if since ~= '' and record.turn then redis.call('HDEL', key, 'turn') end
  if value == '' then
    redis.call('HDEL', key, 'value')
    record.version = version
    keep_without_value(key, record, has_fence, keep, now)
  elseif keep == '' then redis.call('PERSIST', key)
  else redis.call('PEXPIRE', key, keep) end
  local told = value == '' and '-' or #value <= largest_told and value or ''
  redis.pcall('PUBLISH', ARGV[first + 5], version .. ' ' .. (keep == '' and '0' or keep) .. ' ' .. told)
  return { 1, version }
end
local now = read_clock()
local records, rows, is_copy, is_refused = {}, {}, false, false
local function rest_with(row)
  for place in ipairs(KEYS) do rows[place] = rows[place] or row end
  return rows
end
for place, key in ipairs(KEYS) do
  local is_read, record = true, nil
  if together then record = read_record(key) else is_read, record = pcall(read_record, key) end
  if is_read then records[place], rows[place] = record, earlier(record)
  else rows[place] = { -3, type(record) == 'table' and record.err or record } end
  is_copy = is_copy or rows[place] ~= nil
end
if together and is_copy then return rest_with({ -2 }) end
for place, key in ipairs(KEYS) do
  if not rows[place] then rows[place] = judge(key, first_of(place), records[place], now) end
  is_refused = is_refused or rows[place] ~= nil
end
if together and is_refused then return rest_with({ 2 }) end
for place, key in ipairs(KEYS) do
  if not rows[place] then rows[place] = write(key, first_of(place), records[place], now) end
end
return rows
`,
};
