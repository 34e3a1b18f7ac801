--[[
Messages, each of which is "<place> <bytes of the text> <text>". redis/message.ts reads them.

place  the id of the keys that the text speaks of, see redis/place.ts. Empty: the channel is an inbox, whose random name nobody
       else has, or the text only says that there is something to look at
]]
-- Returns how many heard it: nobody, where the user may not send to this channel. Second: whether that is so.
local function send(channel, place, text)
  local heard = redis.pcall('PUBLISH', channel, place .. ' ' .. #text .. ' ' .. text)
  if type(heard) == 'table' then return 0, true end
  return heard, false
end
