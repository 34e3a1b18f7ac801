--[[
delete: delete a synchronizer, and keep its version for a day, so that no later version is below it.

KEYS[1]     request  string  what this request returned; lives for a minute
KEYS[2]     state    hash    see _fields.lua
KEYS[3..n]  others   keys of any type that go with it
ARGV[1]     channel  string  of the synchronizer: its listeners read again
ARGV[2]     field    string  the field that the state has unless it was deleted

Returns  1  deleted
         0  there was none
Raises   WRONGTYPE  another program owns a key; nothing was written

Retry    safe for a minute: a copy returns the same and changes nothing
Clock    the server's, read once
Cost     O(n) in what is deleted, and the listeners of the channel
]]
local request, state = KEYS[1], KEYS[2]
local channel, field = ARGV[1], ARGV[2]

--- @include "../../redis/lua/_clock.lua"
--- @include "../../redis/lua/_version.lua"
--- @include "../../redis/lua/_message.lua"
--- @include "_fields.lua"
local now = read_clock()
local previous, found = read_fields(state, field)
local done = redis.call('GET', request)
if done then return tonumber(done) end
if not found then return 0 end

local version = next_version(previous, now)
--- @include "../../redis/lua/_rights.lua"
--- @rights state
for place = 2, #KEYS do redis.call('DEL', KEYS[place]) end
redis.call('HSET', state, 'version', version)
redis.call('PEXPIRE', state, TOMBSTONE_MS)
redis.call('SET', request, '1', 'PX', REQUEST_MS)
send(channel, '', version)
return 1
