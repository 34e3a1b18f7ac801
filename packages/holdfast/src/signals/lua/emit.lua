--[[
emit: tells everybody who waits for a signal, and counts them.

KEYS[1]  seats      hash    see _seats.lua
ARGV[1]  channel    string  of the signal, at its place
ARGV[2]  place      string  see redis/lua/_message.lua
ARGV[3]  message    string  its id and its data
ARGV[4]  elsewhere  0 or 1  a process may listen at a server that this script does not see

Returns  the number of waiters and listeners that the message reaches; those of patterns are not counted
Raises   WRONGTYPE where another program owns the key; then nobody was told

Retry    tells of its own run: a second copy is published with the same id, so that those who heard the first drop it
Clock    the server's, read once
Cost     O(n) with n the processes that wait for the name, and all subscribers of the channel
]]
--- @include "../../redis/lua/_clock.lua"
--- @include "_seats.lua"
local seats = KEYS[1]
local channel, place, message, elsewhere = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1'
local all = all_seats(seats)
local live = #all > 0 and live_seats(all, read_ms(), elsewhere) or {}
local is_heard = send(channel, place, message) > 0 or elsewhere
local heard = 0
for _, seat in ipairs(live) do
  -- Where nobody listens the seat is older than the end of the wait.
  if is_heard or seat.sure == '1' then heard = heard + seat.hearers - seat.waits + free_waits(seat) end
end
return heard
