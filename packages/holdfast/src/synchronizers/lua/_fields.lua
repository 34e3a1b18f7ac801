--[[
The hash of a synchronizer. Its field `version` is the version of its last change, and outlives a delete for a day, so that no
version is used twice. Times are text as in _clock.lua. keep_ms is text; '0' keeps it for ever.
]]
--- @include "../../redis/lua/_foreign.lua"
-- How long a version outlives what it was the version of.
local TOMBSTONE_MS = 86400000
-- How long a request is remembered, so that a copy of it changes nothing.
local REQUEST_MS = 60000

-- The version and the fields of the hash; false where there is none. Raises WRONGTYPE when another program owns the key.
local function read_fields(key, ...)
  local row = redis.call('HMGET', key, 'version', ...)
  local version = row[1]
  if not version and redis.call('EXISTS', key) == 1 or version and not string.match(version, '^%d+$') then
    foreign(key, version)
  end
  return unpack(row)
end

-- Raises for a field that has to be a number, and is none.
local function check_number(key, value)
  if value and not string.match(value, '^%d+$') then foreign(key, value) end
end

-- The key lives for at least this long. A life that is longer already, because another process asked for it, stays.
local function prolong(key, keep_ms, is_new)
  local left_ms = redis.call('PTTL', key)
  if keep_ms == '0' then
    if left_ms >= 0 then redis.call('PERSIST', key) end
  elseif is_new or (left_ms >= 0 and left_ms < tonumber(keep_ms)) then
    redis.call('PEXPIRE', key, keep_ms)
  end
end
