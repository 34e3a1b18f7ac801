// Generated from latch-reset.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "synchronizers/lua/latch-reset",
  sha1: "33b424d0de2918c660422032ccdde168acff00ed",
  source: `local latch, request = KEYS[1], KEYS[2]
local channel, size, keep_ms = ARGV[1], ARGV[2], ARGV[3]
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
if done then return {1, done} end
if state[4] ~= '' and state[4] ~= size then return {0, tonumber(state[4])} end
local version = next_version(state[1], now)
state = { version, version, state[3], size, size }
redis.call('DEL', latch)
write_latch(latch, state)
prolong(latch, keep_ms, true)
redis.call('SET', request, version, 'PX', REQUEST_MS)
redis.call('PUBLISH', channel, table.concat(state, ' '))
return {1, version}
`,
};
