// Generated from event-set.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "synchronizers/lua/event-set",
  sha1: "7af74e8bd9384f5663222ac5a1a974046af51c35",
  source: `local event, request = KEYS[1], KEYS[2]
local channel, data, keep_ms = ARGV[1], ARGV[2], ARGV[3]
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
local LONGEST_MESSAGE = 16384
local NEVER = '0000000000000000'
local function read_event(event, now)
  local version, set, is_set, ends, data = read_fields(event, 'set', 'is_set', 'ends', 'data')
  if not set or (ends ~= '' and ends <= now) then return { version or NEVER, NEVER, '0', '' } end
  return { version, set, is_set, data }
end
local function publish_event(channel, state)
  local text = table.concat(state, ' ')
  redis.call('PUBLISH', channel, #text <= LONGEST_MESSAGE and text or state[1])
end
local now = read_clock()
local previous = read_fields(event)
local done = redis.call('GET', request)
if done then return done end
local version = next_version(previous, now)
local ends = keep_ms == '0' and '' or string.format('%016.0f', now + keep_ms * 1000)
redis.call('HSET', event, 'version', version, 'set', version, 'is_set', '1', 'ends', ends, 'data', data)
if ends == '' then redis.call('PERSIST', event)
else redis.call('PEXPIRE', event, string.format('%.0f', keep_ms + TOMBSTONE_MS)) end
redis.call('SET', request, version, 'PX', REQUEST_MS)
publish_event(channel, { version, version, '1', data })
return version
`,
};
