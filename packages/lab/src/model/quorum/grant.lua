--[[
grant: one node's part of a quorum lock (design G), asked for. A reference: holdfast has no quorum lock yet.

KEYS[1]  hold   string  "<stamp> <nonce>", for as long as the lease
KEYS[2]  token  string  the largest token handed out or confirmed here, 16 digits
ARGV[1]  nonce  string  of the attempt, kept for its repeats
ARGV[2]  ttl_ms integer
ARGV[3]  floor  integer the stamp must be at least this; 0 for none

Returns  {1, stamp}          held for ttl_ms; stamp > every token handed out or confirmed here before
         {0, left_ms, token} another attempt holds it
Raises   WRONGTYPE           another program owns one of the keys; nothing was written

Retry    safe: the attempt that holds gets its stamp again; nothing changes
Clock    the server's, read once
Cost     O(1), 5 commands
]]
local hold, token, nonce, ttl_ms, floor = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]

local held = redis.call('GET', hold)
local known = redis.call('GET', token)
if held then
  if string.sub(held, 18) == nonce then return {1, string.sub(held, 1, 16)} end
  return {0, redis.call('PTTL', hold), known or ''}
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local stamp = math.max(tonumber(known or '0') + 1, now, tonumber(floor))
local text = string.format('%016.0f', stamp)
-- The token outlives the lease by a day, or until the clock has passed it.
local keep_ms = 86400000 + math.ceil(math.max(stamp - now, 0) / 1000)
redis.call('SET', token, text, 'PX', string.format('%.0f', keep_ms + ttl_ms))
redis.call('SET', hold, text .. ' ' .. nonce, 'PX', ttl_ms)
return {1, text}
