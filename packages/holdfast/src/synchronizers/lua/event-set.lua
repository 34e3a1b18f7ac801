--[[
event-set: set an event, which gives it a new version, also when it is set already.

KEYS[1]  event    hash    see _event.lua
KEYS[2]  request  string  the version that this request has set; lives for a minute
ARGV[1]  channel  string  of the event
ARGV[2]  place    string  see redis/lua/_message.lua
ARGV[3]  data     string  for those who wait; empty: nothing
ARGV[4]  keep_ms  integer until the set is forgotten; 0: never

Returns  version   16 digits, above every earlier one
Raises   WRONGTYPE another program owns a key; nothing was written

Retry    safe for a minute: a copy returns the same version and changes nothing
Clock    the server's, read once
Cost     O(1) and the listeners of the channel; 7 commands
]]
local event, request = KEYS[1], KEYS[2]
local channel, place, data, keep_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include "../../redis/lua/_clock.lua"
--- @include "../../redis/lua/_version.lua"
--- @include "_fields.lua"
--- @include "_event.lua"
local now = read_clock()
local previous = read_fields(event)
local done = redis.call('GET', request)
if done then return done end
--- @include "../../redis/lua/_rights.lua"
--- @rights event

local version = next_version(previous, now)
local ends = keep_ms == '0' and '' or string.format('%016.0f', now + keep_ms * 1000)
redis.call('HSET', event, 'version', version, 'set', version, 'is_set', '1', 'ends', ends, 'data', data)
if ends == '' then redis.call('PERSIST', event)
else redis.call('PEXPIRE', event, string.format('%.0f', keep_ms + TOMBSTONE_MS)) end
redis.call('SET', request, version, 'PX', REQUEST_MS)
publish_event(channel, place, { version, version, '1', data })
return version
