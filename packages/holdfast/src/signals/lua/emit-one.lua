--[[
emit-one: hands a signal to exactly one waiter, chosen at random: each has the same chance, in whatever process it is. Its process
confirms that the waiter has it, or passes it on. Until then it is in the mail, so that a lost message costs time only.

KEYS[1]  seats      hash    see _seats.lua
KEYS[2]  mail       hash    see _seats.lua
KEYS[3]  done       string  see _seats.lua
ARGV[1]  id         string  of the signal
ARGV[2]  name       string  of the signal, without blanks
ARGV[3]  data       string
ARGV[4]  fraction   number  random, in [0, 1)
ARGV[5]  emitter    string  inbox of the process that asks
ARGV[6]  elsewhere  0 or 1  a process may listen at a server that this script does not see

Returns  0: nobody waits. 1: a process has it, and has not said yet whether it has a waiter for it. 2: a waiter has it
Raises   WRONGTYPE where another program owns a key; then nobody was told

Retry    a second copy within a minute hands over nothing, and returns the present outcome: it is also the way to ask for it
Clock    the server's, read once
Cost     O(n) with n the processes that wait for the name
]]
--- @include "../../redis/lua/_clock.lua"
--- @include "_seats.lua"
local seats, mail, done = KEYS[1], KEYS[2], KEYS[3]
local signal = { id = ARGV[1], name = ARGV[2], data = ARGV[3], emitter = ARGV[5], hop = 0 }
local known = checked(done, redis.pcall('GET', done))
if known then return tonumber(known) end
local now_ms = read_ms()
local all = all_seats(seats)
checked(mail, redis.pcall('HEXISTS', mail, signal.id))

--- @include "../../redis/lua/_rights.lua"
--- @rights seats
for _, seat in ipairs(all) do tidy_seat(seats, mail, seat, now_ms) end
local chosen = choose_seat(all, now_ms, ARGV[6] == '1', '', tonumber(ARGV[4]))
local outcome = chosen and 1 or 0
redis.call('SET', done, outcome, 'PX', MAIL_MS)
if chosen then hand_over(seats, mail, chosen, signal) end
return outcome
