--[[
write: set a record's value, unless a newer holder was there.

KEYS[1]  record  hash: token, holder, value
ARGV[1]  token   decimal digits, without leading zeros
ARGV[2]  holder  string: tells two holders of one token apart
ARGV[3]  value   the new value, any bytes

Returns  {1}        written, and the fence raised to token
         {0, seen}  refused, nothing changed: a holder with this token was here first
Raises   WRONGTYPE  another program owns the key; nothing was written

Retry    safe: the same holder writes the same value again
Clock    none
Cost     O(1), 2 commands
]]
--- @include "_fence.lua"
local record, token, holder, value = KEYS[1], ARGV[1], ARGV[2], ARGV[3]

local seen = refused_by(record, token, holder)
if seen then return {0, seen} end
redis.call('HSET', record, 'token', token, 'holder', holder, 'value', value)
return {1}
