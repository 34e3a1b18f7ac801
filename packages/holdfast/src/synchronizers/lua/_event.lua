--[[
The state of an event. Needs _fields.lua.

event  hash  version  of the last set, clear or delete
             set      the version of the last set; absent: none
             is_set   1 or 0
             ends     when the last set is forgotten, by the server's clock; empty: never
             data     what the last set carried, also after a clear; empty: nothing

A state is four texts: version, set, is_set, data. The message on the channel is these with blanks between, or only the version
where the data is too long for a message.
]]
--- @include "../../redis/lua/_message.lua"
local LONGEST_MESSAGE = 16384
local NEVER = '0000000000000000'

-- What a reader sees: a set that is forgotten was never there.
local function read_event(event, now)
  local version, set, is_set, ends, data = read_fields(event, 'set', 'is_set', 'ends', 'data')
  if not set or (ends ~= '' and ends <= now) then return { version or NEVER, NEVER, '0', '' } end
  return { version, set, is_set, data }
end

local function publish_event(channel, place, state)
  local text = table.concat(state, ' ')
  send(channel, place, #text <= LONGEST_MESSAGE and text or state[1])
end
