--[[
look: reads who waits for each of many signals. Changes nothing.

KEYS[1..n]  seats      hashes, see _seats.lua
ARGV[1]     elsewhere  0 or 1: a process may listen at a server that this script does not see

Returns  one entry per signal: {{hearers, waits, room, handed, left_ms, owner}, ...} of the processes that are there, as far as this
         server knows. handed: the number of signals that were handed to it and are not confirmed. left_ms: until the seat is over
         the text of the error where it cannot be read: another program owns the key, or it is of another layout
Raises   NOPERM and the like

Retry    safe
Clock    the server's, read once
Cost     O(n) with n the processes that wait for the names
]]
--- @include "../../redis/lua/_clock.lua"
--- @include "../../redis/lua/_refusal.lua"
--- @include "_seats.lua"
local elsewhere = ARGV[1] == '1'
local now_ms = read_ms()

local function rows_of(seats)
  local rows = {}
  for _, seat in ipairs(live_seats(all_seats(seats), now_ms, elsewhere)) do
    rows[#rows + 1] = { seat.hearers, seat.waits, seat.room, #seat.ids, seat.ends - now_ms, seat.owner }
  end
  return rows
end

local entries = {}
for place, seats in ipairs(KEYS) do
  local is_read, rows = pcall(rows_of, seats)
  entries[place] = is_read and rows or refusal_of(rows)
end
return entries
