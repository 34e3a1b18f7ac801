--[[
pass-on: a process that was handed a signal has nobody left to give it to. Another process gets it, or the emitter learns that
nobody waits.

KEYS[1]  seats      hash    see _seats.lua
KEYS[2]  mail       hash    see _seats.lua
KEYS[3]  done       string  see _seats.lua
ARGV[1]  id         string  of the signal
ARGV[2]  hop        integer with which the process got it
ARGV[3]  name       string  of the signal, without blanks
ARGV[4]  fraction   number  random, in [0, 1)
ARGV[5]  inbox      string  of the process
ARGV[6]  elsewhere  0 or 1  a process may listen at a server that this script does not see

Returns  1: another process has it. 0: nobody waits. -1: it was passed on before, or is no longer there
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    a second copy changes nothing: its hop is over
Clock    the server's, read once
Cost     O(n) with n the processes that wait for the name
]]
--- @include "../../redis/lua/_clock.lua"
--- @include "_seats.lua"
local seats, mail, done = KEYS[1], KEYS[2], KEYS[3]
local id, inbox = ARGV[1], ARGV[5]
local hop, emitter, data = string.match(checked(mail, redis.pcall('HGET', mail, id)) or '', MAIL)
if hop ~= ARGV[2] then return -1 end
local now_ms = read_ms()
local all = all_seats(seats)
checked(done, redis.pcall('GET', done))
--- @include "../../redis/lua/_rights.lua"
--- @rights seats

for _, seat in ipairs(all) do
  if seat.inbox == inbox then
    local left = {}
    for _, other in ipairs(seat.ids) do
      if other ~= id then left[#left + 1] = other end
    end
    seat.ids = left
    write_seat(seats, seat)
  end
end
local chosen = choose_seat(all, now_ms, ARGV[6] == '1', inbox, tonumber(ARGV[4]))
if chosen then
  local signal = { id = id, name = ARGV[3], data = data, emitter = emitter, hop = tonumber(hop) + 1 }
  hand_over(seats, mail, chosen, signal)
  return 1
end
redis.call('HDEL', mail, id)
set_outcome(done, emitter, id, 0)
return 0
