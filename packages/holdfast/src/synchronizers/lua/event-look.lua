--[[
event-look: read an event. Changes nothing.

KEYS[1]  event  hash  see _event.lua

Returns  {version, set, is_set, data}  see _event.lua; version and set are zeros where there is none
Raises   WRONGTYPE                     another program owns the key

Retry    safe
Clock    the server's, read once
Cost     O(1), 2 commands
]]
local event = KEYS[1]

--- @include "../../redis/lua/_clock.lua"
--- @include "_fields.lua"
--- @include "_event.lua"
local now = read_clock()
return read_event(event, now)
