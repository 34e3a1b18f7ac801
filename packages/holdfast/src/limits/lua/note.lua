--[[
note: keeps in an index the limits and targets of which something may be used, so that they are found without a scan.

KEYS[1]  index    sorted set: the name of each limit and target, by the time in ms at which nothing of it is used any more
ARGV[1..]         two for each:
         member   string
         life     integer  ms from now on

Returns  1

Retry    harmless
Clock    the server's, read once
Cost     O(log n) for each, and for each that ended since the last call
]]
local index = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
--- @include "../../redis/lua/_rights.lua"
--- @rights index
redis.call('ZREMRANGEBYSCORE', index, '-inf', string.format('%.0f', now))
for place = 1, #ARGV, 2 do
  redis.call('ZADD', index, 'GT', string.format('%.0f', now + ARGV[place + 1]), ARGV[place])
end
local last = redis.call('ZRANGE', index, 0, 0, 'REV', 'WITHSCORES')[2]
redis.call('PEXPIRE', index, string.format('%.0f', last - now))
return 1
