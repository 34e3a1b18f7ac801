--[[
latch-reset: begin a new generation of a latch, with its whole count.

KEYS[1]  latch    hash    see _latch.lua
KEYS[2]  request  string  the generation that this request began; lives for a minute
ARGV[1]  channel  string  of the latch
ARGV[2]  place    string  see redis/lua/_message.lua
ARGV[3]  size     integer the count with which the caller expects it to begin
ARGV[4]  keep_ms  integer life of the key from now on; 0: for ever

Returns  {1, generation}  16 digits
         {0, size}        it has another size; nothing was written
Raises   WRONGTYPE        another program owns a key; nothing was written

Retry    safe for a minute: a copy returns the same and changes nothing
Clock    the server's, read once
Cost     O(n) in the parties that have counted, and the listeners of the channel
]]
local latch, request = KEYS[1], KEYS[2]
local channel, place, size, keep_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include "../../redis/lua/_clock.lua"
--- @include "../../redis/lua/_version.lua"
--- @include "_fields.lua"
--- @include "_latch.lua"
local now = read_clock()
local state = read_latch(latch)
local done = redis.call('GET', request)
if done then return {1, done} end
if state[4] ~= '' and state[4] ~= size then return {0, tonumber(state[4])} end

local version = next_version(state[1], now)
--- @include "../../redis/lua/_rights.lua"
--- @rights latch
state = { version, version, state[3], size, size }
redis.call('DEL', latch)
write_latch(latch, state)
prolong(latch, keep_ms, true)
redis.call('SET', request, version, 'PX', REQUEST_MS)
send(channel, place, table.concat(state, ' '))
return {1, version}
