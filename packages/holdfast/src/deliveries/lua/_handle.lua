--[[
The handle of a delivery: "<token>:<number>:<attempt>:<processId>", in lanes with ":<lane>". An attempt that ends in "!" is of a message
whose first lease ran out before: its process begins with it when the server has answered an extension, and not before.
]]
local HANDLE = '^(%d+):(%d+):(%d+!?):([^:]*):?(.*)$'

-- What is kept of the attempts of a message that came back: their number, and the same sign.
local function attempts_text(item)
  return string.format('%.0f', item.attempts) .. (item.is_unsure and '!' or '')
end

local function read_attempts(text)
  return tonumber(string.match(text, '^%d+')), string.sub(text, -1) == '!'
end

-- item: the message, with the attempts that it had before this delivery. process: the id of the process that gets it.
local function write_handle(token, item, process)
  local handle = token .. ':' .. item.number .. ':' .. item.attempts + 1 .. (item.is_unsure and '!' or '') .. ':' .. process
  return item.lane and handle .. ':' .. item.lane or handle
end
