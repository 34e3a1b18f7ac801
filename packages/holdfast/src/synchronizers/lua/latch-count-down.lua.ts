// Generated from latch-count-down.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "synchronizers/lua/latch-count-down",
  sha1: "b54a118dd03b569df14d0c94f32d4a3b15f7ce2c",
  source: `local latch, request = KEYS[1], KEYS[2]
local channel, size, keep_ms, n, by = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local function next_version(previous, now)
  local version, last = tonumber(now), tonumber(previous or '0')
  if version <= last then version = last + 1 end -- guard: version rises
  if version > 9007199254000000 then error({ err = 'ERR the versions of this object are used up, delete its key' }) end
  return string.format('%016.0f', version)
end
local TOMBSTONE_MS = 86400000
local REQUEST_MS = 60000
local function read_fields(key, ...)
  local row = redis.call('HMGET', key, 'version', ...)
  local version = row[1]
  if not version and redis.call('EXISTS', key) == 1 or version and not string.match(version, '^%d+$') then
    error({ err = 'WRONGTYPE another program wrote the hash ' .. key })
  end
  return unpack(row)
end
local function prolong(key, keep_ms, is_new)
  local left_ms = redis.call('PTTL', key)
  if keep_ms == '0' then
    if left_ms >= 0 then redis.call('PERSIST', key) end
  elseif is_new or (left_ms >= 0 and left_ms < tonumber(keep_ms)) then
    redis.call('PEXPIRE', key, keep_ms)
  end
end
local NEVER = '0000000000000000'
local function read_latch(latch)
  local version, generation, opened, size, left = read_fields(latch, 'generation', 'opened', 'size', 'left')
  return { version or NEVER, generation or NEVER, opened or NEVER, size or '', left or '' }
end
local function write_latch(latch, state)
  redis.call('HSET', latch, 'version', state[1], 'generation', state[2], 'opened', state[3], 'size', state[4], 'left', state[5])
end
local now = read_clock()
local state = read_latch(latch)
local done = redis.call('GET', request)
if done then
  local left, counted = string.match(done, '^(%d+) (%d)$')
  return {1, tonumber(left), tonumber(counted)}
end
local is_new = state[4] == ''
if not is_new and state[4] ~= size then return {0, tonumber(state[4])} end
local version = next_version(state[1], now)
if is_new then state = { version, version, NEVER, size, size } end
local left, counted = tonumber(state[5]), 0
local has_counted = by ~= '' and redis.call('HEXISTS', latch, 'by:' .. by) == 1
if left > 0 and not has_counted then
  left, counted = math.max(left - tonumber(n), 0), 1
  state[1], state[5] = version, string.format('%.0f', left)
  if left == 0 then state[3] = state[2] end
  write_latch(latch, state)
  if by ~= '' then redis.call('HSET', latch, 'by:' .. by, '1') end
end
prolong(latch, keep_ms, is_new)
redis.call('SET', request, string.format('%.0f %.0f', left, counted), 'PX', REQUEST_MS)
if counted == 1 and left == 0 then redis.call('PUBLISH', channel, table.concat(state, ' ')) end
return {1, left, counted}
`,
};
