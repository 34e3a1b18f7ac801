--[[
Messages, each of which is "<place> <bytes of the text> <text>". redis/message.ts reads them.

place  the id of the keys that the text speaks of, see redis/place.ts. Empty: the channel is an inbox, whose random name nobody
       else has, or the text only says that there is something to look at
]]
-- Returns how many heard it.
local function send(channel, place, text)
  return redis.call('PUBLISH', channel, place .. ' ' .. #text .. ' ' .. text)
end
