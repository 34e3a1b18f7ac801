--[[
look: reads who waits for each of many signals. Changes nothing.

KEYS[1..n]  seats      hashes, see _seats.lua
ARGV[1]     elsewhere  0 or 1: a process may listen at a server that this script does not see

Returns  one entry per signal: {{hearers, waits, room, handed, left_ms, owner}, ...} of the processes that are there, as far as this
         server knows. handed: the number of signals that were handed to it and are not confirmed. left_ms: until the seat is over
         0 where another program owns the key
Raises   NOPERM and the like; nothing for a foreign type

Retry    safe
Clock    the server's, read once
Cost     O(n) with n the processes that wait for the names
]]
--- @include "../../redis/lua/_clock.lua"
--- @include "_seats.lua"
local elsewhere = ARGV[1] == '1'
local now_ms = read_ms()

local function rows_of(seats)
  if redis.call('EXISTS', seats) == 1 and type(redis.pcall('HGET', seats, '')) == 'table' then return 0 end
  local rows = {}
  for _, seat in ipairs(live_seats(all_seats(seats), now_ms, elsewhere)) do
    rows[#rows + 1] = { seat.hearers, seat.waits, seat.room, #seat.ids, seat.ends - now_ms, seat.owner }
  end
  return rows
end

local entries = {}
for place, seats in ipairs(KEYS) do entries[place] = rows_of(seats) end
return entries
