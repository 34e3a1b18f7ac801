--[[
redrive: dead letters become messages again, with their ids and with all their attempts before them.

KEYS[1..9]  about, line, off, away, idle, later, again, dead, letters   see _queue.lua
ARGV[1]   name     of the queue, without blanks
ARGV[2]   inboxes  see deliveries/lua/_deliveries.lua
ARGV[3]   reach    see deliveries/lua/_deliveries.lua
ARGV[4]   most     integer, at most 100: how many of the oldest, where no ids follow
ARGV[5]   until_ms only those that were dead before, by the server's clock; '' for all
ARGV[6..n] ids     of messages, at most 100

Returns  {redriven, seen, ms}  seen: how many it looked at, the first ones. ms: the server's clock, for the next `until_ms`
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    tells of its own run: with ids a second copy redrives nothing that did not die again; without ids it redrives further ones
Clock    the server's, read once
Cost     O(n log m) with n the letters, and m those of the queue. Stops after the first that brings the bodies to 256 kB
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_queue.lua"
--- @include "../../deliveries/lua/_deal.lua"
local q = {
  about = KEYS[1], line = KEYS[2], off = KEYS[3], away = KEYS[4], idle = KEYS[5], later = KEYS[6], again = KEYS[7], dead = KEYS[8],
  letters = KEYS[9], may_bury = true, verb = 'queue', name = ARGV[1], inboxes = ARGV[2], reach = ARGV[3],
}
local most, until_ms, ids = tonumber(ARGV[4]), ARGV[5], { unpack(ARGV, 6) }
open(q, '')
check(q)
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about
q.order = q.order or 'fifo'
local before = until_ms == '' and string.format('%.0f', q.ms) or until_ms
if #ids == 0 then ids = redis.call('ZRANGE', q.dead, '-inf', before, 'BYSCORE', 'LIMIT', 0, most) end
local count, seen, bytes = 0, 0, 0
for _, number in ipairs(ids) do
  seen = seen + 1
  local body = redis.call('HGET', q.letters, number)
  if redis.call('ZREM', q.dead, number) > 0 and body then
    redis.call('HDEL', q.letters, number, 'why:' .. number)
    redis.call('DEL', q.about .. ':result:' .. number)
    put_back(q, { number = number, attempts = 0, body = body })
    count, bytes = count + 1, bytes + #body
    if bytes >= MOST_BYTES then break end
  end
end
deal(q)
close(q)
return { count, seen, q.ms }
