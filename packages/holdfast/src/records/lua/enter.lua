--[[
enter: raises the fence of a record to a holder's token before it reads, and reads.

KEYS[1]  record  a hash, see _record.lua
ARGV[1]  token   decimal digits, without leading zeros
ARGV[2]  holder  string: tells two holders of one token apart
ARGV[3]  guard   ms for which this record is kept after the newest holder came; '' is for ever

Returns  {1, version or nil, value or nil}  entered: no older holder can write from now on
         {0, seen}                          refused: a holder with this newer, or equal but other's, token was here first
Raises   WRONGTYPE                          another program owns the key; nothing was written

Retry    safe: the same holder enters again
Clock    the server's, read once
Cost     O(1), at most 11 commands
]]
--- @include "../../redis/lua/_clock.lua"
--- @include "_record.lua"
local key, token, holder, guard = KEYS[1], ARGV[1], ARGV[2], ARGV[3]

local now = read_clock()
local record = read_record(key, now)
local seen = refused_by(record, token, holder)
if seen then return { 0, seen } end
local value = value_of(key, record)
local value_ms = value and left_of(key, record, record.ends_ms) or 0
local fence_ms = guarded_ms(key, record, token, guard)
--- @include "../../redis/lua/_rights.lua"
--- @rights key
redis.call('HSET', key, 'fence', token, 'holder', holder)
if not value and record.version then redis.call('HDEL', key, 'value') end
keep(key, record, value_ms, fence_ms)
return { 1, record.version, value }
