--[[
The state of a latch. Needs _fields.lua.

latch  hash  version     of the last change
             size        the count with which it begins
             left        the count that is left; 0: open
             generation  the version of its beginning: of its first use, or of its last reset
             opened      the last generation that opened; zeros: none
             by:NAME     1: the party NAME has counted down in this generation

A state is five texts: version, generation, opened, size, left. The message on the channel is these with blanks between.
]]
--- @include "../../redis/lua/_message.lua"
local NEVER = '0000000000000000'

-- Size and left are empty where there is no latch.
local function read_latch(latch)
  local version, generation, opened, size, left = read_fields(latch, 'generation', 'opened', 'size', 'left')
  check_number(latch, left)
  return { version or NEVER, generation or NEVER, opened or NEVER, size or '', left or '' }
end

local function write_latch(latch, state)
  redis.call('HSET', latch, 'version', state[1], 'generation', state[2], 'opened', state[3], 'size', state[4], 'left', state[5])
end
