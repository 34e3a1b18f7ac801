--[[
The state of a record is a hash of

  value    as values.ts writes it; absent while the record has none: before the first put, and after a delete
  version  16 digits, see _version.lua; of a record without a value, the version of the delete
  fence    the newest token that was served, decimal digits without leading zeros
  holder   the id that came with it
  writes   the last write of each process that wrote within the last minute, the oldest first: ";WRITER NUMBER VERSION" each
  turn     "WRITER SINCE UNTIL": the process whose update has failed for the longest time, and until when others let it pass
  ends     ms since 1970 at which the value is over, where the fence or the version outlives it; else it ends with the key
  guards   the same of the fence, where the value or the version outlives it

Tokens are compared as decimal text, so that those of stores which count beyond 2^53 stay exact. An equal token passes only for the
holder that brought it: two masters that both served a split brain may have handed out the same number.
]]
--- @include "../../redis/lua/_checked.lua"

local function older(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

local function read_record(key, now)
  local fields = checked(key, redis.pcall('HMGET', key, 'version', 'fence', 'holder', 'writes', 'turn', 'ends', 'guards'))
  local version, fence = fields[1], fields[2]
  if version and not string.match(version, '^%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d$') then foreign(key, version) end
  if fence and not string.match(fence, '^%d+$') then foreign(key) end
  if not version and not fence and redis.call('EXISTS', key) == 1 then foreign(key) end
  return {
    version = version, fence = fence, holder = fields[3], writes = fields[4] or '', turn = fields[5],
    now_us = tonumber(now), now_ms = math.floor(tonumber(now) / 1000),
    ends_ms = tonumber(fields[6] or nil), guards_ms = tonumber(fields[7] or nil),
  }
end

-- The value, or nil where there is none.
local function value_of(key, record)
  if not record.version or record.ends_ms and record.ends_ms <= record.now_ms then return nil end
  return redis.call('HGET', key, 'value') or nil
end

-- The token that refuses this one, or nil. A token of '' is none.
local function refused_by(record, token, holder)
  local seen = record.fence
  if token == '' or not seen then return nil end
  if older(token, seen) or (token == seen and record.holder ~= holder) then return seen end -- guard: fence of a record
  return nil
end

local day_ms = 86400000

-- ms for which a value or a fence is kept, of what a caller says.
local function keep_of(text)
  return text == '' and math.huge or tonumber(text)
end

-- ms until the part of the record is over that ends at `ends_ms`; nil: with the key.
local function left_of(key, record, ends_ms)
  if ends_ms then return math.max(ends_ms - record.now_ms, 0) end
  local left_ms = redis.call('PTTL', key)
  return left_ms == -1 and math.huge or math.max(left_ms, 0)
end

-- ms until the fence is over, once this holder has come; '' for none.
local function guarded_ms(key, record, token, guard)
  local asked_ms = token == '' and 0 or keep_of(guard)
  if not record.fence or asked_ms == math.huge then return asked_ms end
  return math.max(left_of(key, record, record.guards_ms), asked_ms)
end

-- Sets or removes the end of a part, which ends before the key does or with it. has: there is one
local function set_end(key, field, has, part_ms, life_ms, now_ms)
  if part_ms > 0 and part_ms < life_ms then
    redis.call('HSET', key, field, string.format('%.0f', now_ms + part_ms))
  elseif has then
    redis.call('HDEL', key, field)
  end
end

-- ms until the clock has passed the version. A record that is gone before that would get a lower version next.
local function ahead_of(record)
  local version = tonumber(record.version or '0')
  if version <= record.now_us then return 0 end
  return math.floor(version / 1000) + 1 - record.now_ms
end

-- Sets how long a record is kept: a value does not end its fence, nor a fence its value, and neither ends a version that is ahead of the
-- clock.
-- value_ms, fence_ms  of each, from now on; 0: there is none
local function keep(key, record, value_ms, fence_ms)
  local life_ms, ahead_ms = math.max(value_ms, fence_ms), ahead_of(record)
  if value_ms == 0 then
    life_ms = math.max(life_ms, day_ms) + ahead_ms
  else
    life_ms = math.max(life_ms, ahead_ms)
  end
  if life_ms == math.huge then redis.call('PERSIST', key)
  else redis.call('PEXPIRE', key, string.format('%.0f', math.ceil(life_ms))) end
  set_end(key, 'ends', record.ends_ms, value_ms, life_ms, record.now_ms)
  set_end(key, 'guards', record.guards_ms, fence_ms, life_ms, record.now_ms)
end
