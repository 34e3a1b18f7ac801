--[[
enter: raises the fence of a record to a holder's token before it reads, and reads.

KEYS[1]  record  a hash, see _record.lua
ARGV[1]  token   decimal digits, without leading zeros
ARGV[2]  holder  string: tells two holders of one token apart
ARGV[3]  keep    ms for which a value of this record is kept; '' is for ever

Returns  {1, version or nil, value or nil}  entered: no older holder can write from now on
         {0, seen}                          refused: a holder with this newer, or equal but other's, token was here first
Raises   WRONGTYPE                          another program owns the key; nothing was written

Retry    safe: the same holder enters again
Clock    the server's, read once
Cost     O(1), at most 5 commands
]]
--- @include "../../redis/lua/_clock.lua"
--- @include "_record.lua"
local key, token, holder, keep = KEYS[1], ARGV[1], ARGV[2], ARGV[3]

local now = read_clock()
local record = read_record(key)
local seen = refused_by(record, token, holder)
if seen then return { 0, seen } end
--- @include "../../redis/lua/_rights.lua"
--- @rights key
redis.call('HSET', key, 'fence', token, 'holder', holder)
local value = redis.call('HGET', key, 'value')
if not value then keep_without_value(key, record, true, keep, now) end
return { 1, record.version, value }
