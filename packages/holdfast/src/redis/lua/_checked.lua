--[[
Replies of redis.pcall, and how many values one call may have.
]]
--- @include "_foreign.lua"
-- unpack has a limit of 8,000 values, of which a pair takes two.
local CHUNK = 1000

-- Raises before anything is written. The server's own text does not name the key.
local function checked(key, reply)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if not string.find(reply.err, 'WRONGTYPE') then error(reply) end
  foreign(key)
end
