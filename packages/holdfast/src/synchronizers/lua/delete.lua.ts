// Generated from delete.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "synchronizers/lua/delete",
  sha1: "0bf5a0a145560fee240f7969d3620a4d7bbaec37",
  source: `local request, state = KEYS[1], KEYS[2]
local channel, field = ARGV[1], ARGV[2]
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
local now = read_clock()
local previous, found = read_fields(state, field)
local done = redis.call('GET', request)
if done then return tonumber(done) end
if not found then return 0 end
local version = next_version(previous, now)
for place = 2, #KEYS do redis.call('DEL', KEYS[place]) end
redis.call('HSET', state, 'version', version)
redis.call('PEXPIRE', state, TOMBSTONE_MS)
redis.call('SET', request, '1', 'PX', REQUEST_MS)
redis.call('PUBLISH', channel, version)
return 1
`,
};
