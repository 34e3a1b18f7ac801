--[[
write: puts or deletes the values of records, each on conditions of its own. The fence is looked at before the version, because a holder that was overtaken must stop, whatever the version is.

KEYS[1..n]  records   hashes, see _record.lua
ARGV[1]     writer    string: the process
ARGV[2]     number    integer: rises with every call of the process, and is the same in every copy of a call
ARGV[3]     since     us by the server's clock when this update() first failed; '0' before that; '' when this is no update()
ARGV[4]     hold      us for which others let this update() pass, when it fails again
ARGV[5]     together  '1': all are written or none; '0': each by itself
ARGV[6]     place     string: see redis/lua/_message.lua
ARGV[7..]             seven for each key:
            value     as values.ts writes it; '' deletes
            expected  the version that must be there, 16 digits; '0': none ever; 'none': no value; '': any
            token     decimal digits, without leading zeros; '': without a fence
            holder    string: tells two holders of one token apart
            keep      ms for which the value is kept; '' is for ever
            guard     ms for which the record is kept after the newest holder came; '' is for ever
            channel   string: where the write is announced

Returns  a row for each key; together: when one is neither 1 nor 3, nothing was written
         {1, version}                      written
         {3}                               there was no value to delete
         {0, seen}                         a holder with this newer, or equal but other's, token was here first
         {-1, version, value, turn, now}   another version is there: '0' and nil for none. Or another update() has its turn, which
                                           ends within `turn` us
         {2}                               not written, because another record of this call was refused
         {-3, error}                       another program owns this key, or its versions are used up; not together
         {-2}                              unknown: a copy of an earlier call, which a later call of this process has followed
Raises   WRONGTYPE                         together: another program owns a key; nothing was written
         ERR                               together: the versions of a key are used up; nothing was written

Retry    safe within a minute: a copy changes nothing, and is answered as the first was
Clock    the server's, read once; versions never go back with it
Cost     O(n), at most 13 commands each
]]
--- @include "../../redis/lua/_clock.lua"
--- @include "../../redis/lua/_version.lua"
--- @include "../../redis/lua/_message.lua"
--- @include "_record.lua"
local writer, number, since, hold = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local together = ARGV[5] == '1'
local place_of_keys = ARGV[6]
local first_of = function(place) return place * 7 end
local minute_us, longest_writes, longest_turn_us, largest_told = 60000000, 6000, 10000000, 8192

-- The number and the version of the last write of this process.
local function last_write(writes)
  local _, to = string.find(writes, ';' .. writer .. ' ', 1, true)
  if not to then return nil end
  local last, version = string.match(writes, '^(%d+) (%d+)', to + 1)
  return tonumber(last), version
end

-- The row of a write that is a copy, or nil.
local function earlier(record)
  local last, version = last_write(record.writes)
  if not last or last < number then return nil end -- guard: copy of a write
  return last == number and { 1, version } or { -2 }
end

-- The list with this write at its end, without those that are too old for a copy to be on its way.
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

-- How long another update() that has failed for longer than this one may still take, in us; 0: none.
local function turn_of_another(record, now)
  if since == '' or not record.turn then return 0 end
  local who, its_since, till = string.match(record.turn, '^(%S+) (%d+) (%d+)$')
  if not who or who == writer or (since ~= '0' and older(since, its_since)) then return 0 end
  local left = tonumber(till) - tonumber(now)
  -- A turn that ends too late is from before the clock was set back.
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
  if expected == 'none' then is_met = not value_of(key, record) end
  if is_met and left == 0 then return nil end
  if left == 0 and since ~= '' and since ~= '0' and record.version then
    local till = math.min(tonumber(hold), longest_turn_us) + tonumber(now)
    redis.call('HSET', key, 'turn', writer .. ' ' .. since .. ' ' .. string.format('%.0f', till))
  end
  return { -1, version, value_of(key, record) or false, left, now }
end

-- The row of a write that is refused, or nil. Makes the version of the others: a record without a next version raises here.
local function prepare(key, first, record, now)
  local row = judge(key, first, record, now)
  if row then return row end
  if ARGV[first] ~= '' or value_of(key, record) then record.next = next_version(record.version, now) end
  return nil
end

local function write(key, first, record, now)
  local value, token, holder, kept = ARGV[first], ARGV[first + 2], ARGV[first + 3], ARGV[first + 4]
  local fence_ms = guarded_ms(key, record, token, ARGV[first + 5])
  local version = record.next
  -- The first write of a delete takes no memory: a server that is full refuses no command of a script after that.
  if value == '' then redis.call('HDEL', key, 'value') end
  if not version then
    if token ~= '' then
      redis.call('HSET', key, 'fence', token, 'holder', holder)
      keep(key, record, 0, fence_ms)
    end
    return { 3 }
  end
  local fields = { 'version', version, 'writes', with_write(record.writes, version, now) }
  if token ~= '' then
    fields[5], fields[6], fields[7], fields[8] = 'fence', token, 'holder', holder
  end
  if value ~= '' then
    fields[#fields + 1], fields[#fields + 2] = 'value', value
  end
  redis.call('HSET', key, unpack(fields))
  if since ~= '' and record.turn then redis.call('HDEL', key, 'turn') end
  record.version = version
  keep(key, record, value ~= '' and keep_of(kept) or 0, fence_ms)
  local told = value == '' and '-' or #value <= largest_told and value or ''
  send(ARGV[first + 6], place_of_keys, version .. ' ' .. (kept == '' and '0' or kept) .. ' ' .. told)
  return { 1, version }
end

local now = read_clock()
local records, rows, is_copy, is_refused = {}, {}, false, false
local function rest_with(row)
  for place in ipairs(KEYS) do rows[place] = rows[place] or row end
  return rows
end

-- What the step returns. Where each is written by itself, an error is the row of its record alone, which comes second.
local function alone(step, ...)
  if together then return step(...) end
  local is_done, result = pcall(step, ...)
  if is_done then return result end
  -- The error that pcall catches is the server's table, or its text.
  return nil, { -3, type(result) == 'table' and result.err or result }
end

for place, key in ipairs(KEYS) do
  local record, failure = alone(read_record, key, now)
  records[place], rows[place] = record, failure or earlier(record)
  is_copy = is_copy or rows[place] ~= nil
end
if together and is_copy then return rest_with({ -2 }) end
--- @include "../../redis/lua/_rights.lua"
--- @rights KEYS[1]
for place, key in ipairs(KEYS) do
  if not rows[place] then
    local row, failure = alone(prepare, key, first_of(place), records[place], now)
    rows[place] = row or failure
  end
  is_refused = is_refused or rows[place] ~= nil
end
if together and is_refused then return rest_with({ 2 }) end
for place, key in ipairs(KEYS) do
  if not rows[place] then rows[place] = write(key, first_of(place), records[place], now) end
end
return rows
