--[[
look: who has the permits of many names, and who waits for them. Changes nothing.

KEYS[1..4n]  permits, line, waiters, banned of each name: see _permits.lua
ARGV[1]      most  integer  leases and waiters to tell of for each name, 1 or more

Returns  {now, {fields, waiting, banned, entries}, ...}
         now      16 digits, µs of the server's clock
         fields   of the hash permits, and their values, in turn: '.' and the first `most` leases, in no order
         waiting  how many stand in line, some of whom may be dead
         banned   how many that gave up are still refused
         entries  of the first `most` in line, in order: "<id> <value in waiters>"
         in place of a name that cannot be read the text of the error: see redis/lua/_foreign.lua
Raises   NOPERM and the like

Retry    safe
Clock    the server's, read once
Cost     O(h + n log m + n most) with h the leases of all names and m the length of the longest line
]]
--- @include "../../../../../redis/lua/_clock.lua"
local now, most = read_clock(), tonumber(ARGV[1])

--- @include "../../../../../redis/lua/_refusal.lua"
local function look(first)
  local line, fields, entries = KEYS[first + 1], {}, {}
  local all = redis.call('HGETALL', KEYS[first])
  for place = 1, #all, 2 do
    if all[place] == '.' and not string.find(all[place + 1], '^%d') then foreign(KEYS[first], all[place + 1]) end
    if all[place] == '.' or #fields < 2 * most then
      fields[#fields + 1], fields[#fields + 2] = all[place], all[place + 1]
    end
  end
  local ids = redis.call('ZRANGE', line, 0, most - 1)
  local values = #ids > 0 and redis.call('HMGET', KEYS[first + 2], unpack(ids)) or {}
  for place, id in ipairs(ids) do entries[place] = id .. ' ' .. (values[place] or '') end
  local banned = redis.call('ZCOUNT', KEYS[first + 3], string.sub(now, 1, 13), '+inf')
  return { fields, redis.call('ZCARD', line), banned, entries }
end

local rows = { now }
for first = 1, #KEYS, 4 do
  local ok, row = pcall(look, first)
  rows[#rows + 1] = ok and row or refusal_of(row)
end
return rows
