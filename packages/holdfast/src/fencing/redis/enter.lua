--[[
enter: raise the fence of a record to a holder's token before it reads, and read.

KEYS[1]  record  hash: token, holder, value
ARGV[1]  token   decimal digits, without leading zeros
ARGV[2]  holder  string: tells two holders of one token apart

Returns  {1, value or nil}  entered: no older holder can write from now on
         {0, seen}          refused: a holder with this newer, or equal but other's, token was here first
Raises   WRONGTYPE          another program owns the key; nothing was written

Retry    safe: the same holder enters again
Clock    none
Cost     O(1), at most 2 commands
]]
--- @include "_fence.lua"
local record, token, holder = KEYS[1], ARGV[1], ARGV[2]

local seen, value = refused_by(record, token, holder)
if seen then return {0, seen} end
redis.call('HSET', record, 'token', token, 'holder', holder)
return {1, value}
