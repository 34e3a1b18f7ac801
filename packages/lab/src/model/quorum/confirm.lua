--[[
confirm: tells a node the token of the attempt that it granted (design G). A token is issued when a majority
of those that granted have confirmed it. Not needed where the stamp is the token.

KEYS[1]  hold   string  see grant.lua
KEYS[2]  token  string
ARGV[1]  nonce  string  of the attempt
ARGV[2]  stamp  string  what this node granted, 16 digits
ARGV[3]  value  string  the largest stamp of the attempt, 16 digits

Returns  1  every later stamp here is larger than value
         0  refused: the hold is gone, or is not the one that was granted
Raises   WRONGTYPE  another program owns one of the keys; nothing was written

Retry    safe: a repeat changes nothing
Clock    none: the value is kept for two days, and must not be a day ahead of this node's clock
Cost     O(1), 3 commands
]]
local hold, token, nonce, stamp, value = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]

if redis.call('GET', hold) ~= stamp .. ' ' .. nonce then return 0 end
local known = redis.call('GET', token)
-- As text they sort as numbers do.
if known and known >= value then return 1 end
redis.call('SET', token, value, 'PX', 2 * 86400000)
return 1
