--[[
The state of a record is a hash of

  value    as values.ts writes it; absent while the record has none: before the first put, and after a delete
  version  16 digits, see _version.lua; of a record without a value, the version of the delete
  fence    the newest token that was served, decimal digits without leading zeros
  holder   the id that came with it
  writes   the last write of each process that wrote within the last minute, the oldest first: ";WRITER NUMBER VERSION" each
  turn     "WRITER SINCE UNTIL": the process whose update has failed for the longest time, and until when others let it pass

Tokens are compared as decimal text, so that those of stores which count beyond 2^53 stay exact. An equal token passes only for the
holder that brought it: two masters that both served a split brain may have handed out the same number.
]]
--- @include "../../redis/lua/_checked.lua"

local function older(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

local function read_record(key)
  local fields = checked(key, redis.pcall('HMGET', key, 'version', 'fence', 'holder', 'writes', 'turn'))
  local version, fence = fields[1], fields[2]
  if version and not string.match(version, '^%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d$') then foreign(key, version) end
  if fence and not string.match(fence, '^%d+$') then foreign(key) end
  if not version and not fence and redis.call('EXISTS', key) == 1 then foreign(key) end
  return { version = version, fence = fence, holder = fields[3], writes = fields[4] or '', turn = fields[5] }
end

-- The token that refuses this one, or nil. A token of '' is none.
local function refused_by(record, token, holder)
  local seen = record.fence
  if token == '' or not seen then return nil end
  if older(token, seen) or (token == seen and record.holder ~= holder) then return seen end -- guard: fence of a record
  return nil
end

local day_ms = 86400000

-- How long a record without a value is kept. A fence must not be forgotten, unless the record has an end in any case.
local function keep_without_value(key, record, has_fence, keep, now)
  if has_fence and keep == '' then
    redis.call('PERSIST', key)
    return
  end
  local life = math.max(day_ms, tonumber(keep) or 0)
  -- A version that is ahead of the clock is kept until the clock has passed it as well.
  if record.version then life = life + math.max(0, (tonumber(record.version) - tonumber(now)) / 1000) end
  redis.call('PEXPIRE', key, string.format('%.0f', math.ceil(life)))
end
