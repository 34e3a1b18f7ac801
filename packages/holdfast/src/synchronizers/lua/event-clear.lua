--[[
event-clear: clear an event. What is not set stays as it is.

KEYS[1]  event    hash    see _event.lua
KEYS[2]  request  string  the version that this request has left; lives for a minute
ARGV[1]  channel  string  of the event
ARGV[2]  place    string  see redis/lua/_message.lua

Returns  version   16 digits: of this clear, or of the last change where the event was not set
Raises   WRONGTYPE another program owns a key; nothing was written

Retry    safe for a minute: a copy returns the same version and changes nothing
Clock    the server's, read once
Cost     O(1) and the listeners of the channel; 7 commands
]]
local event, request = KEYS[1], KEYS[2]
local channel, place = ARGV[1], ARGV[2]

--- @include "../../redis/lua/_clock.lua"
--- @include "../../redis/lua/_version.lua"
--- @include "_fields.lua"
--- @include "_event.lua"
local now = read_clock()
local state = read_event(event, now)
local done = redis.call('GET', request)
if done then return done end
if state[3] ~= '1' then return state[1] end
--- @include "../../redis/lua/_rights.lua"
--- @rights event

state[1], state[3] = next_version(state[1], now), '0'
-- The first write takes no memory: a server that is full refuses no command of a script after that.
redis.call('HDEL', event, '')
redis.call('HSET', event, 'version', state[1], 'is_set', '0')
redis.call('SET', request, state[1], 'PX', REQUEST_MS)
publish_event(channel, place, state)
return state[1]
