--[[
pause: stops a queue, or lets it go on. A paused queue gives nothing to anybody. It takes pushes, and what is in flight ends as ever.

KEYS[1..7]  about, line, off, away, idle, later, again   see _queue.lua
ARGV[1]   name       of the queue, without blanks
ARGV[2]   inboxes    see deliveries/lua/_deliveries.lua
ARGV[3]   reach      see deliveries/lua/_deliveries.lua
ARGV[4]   is_paused  0 or 1

Returns  1: this changed it. 0: it was so before
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    tells of its own run: a second copy finds what the first left
Clock    the server's, read once
Cost     O(log m) with m the deliveries of all processes; up to 64 messages are handed over
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_queue.lua"
--- @include "../../deliveries/lua/_deal.lua"
local q = {
  about = KEYS[1], line = KEYS[2], off = KEYS[3], away = KEYS[4], idle = KEYS[5], later = KEYS[6], again = KEYS[7],
  verb = 'queue', name = ARGV[1], inboxes = ARGV[2], reach = ARGV[3],
}
local is_paused = ARGV[4] == '1'
open(q, '')
check(q)
if (q.paused and true or false) == is_paused then return 0 end
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about
if is_paused then
  redis.call('HSET', q.about, 'paused', 1)
else
  redis.call('HDEL', q.about, 'paused')
  q.paused, q.order = nil, q.order or 'fifo'
  deal(q)
  close(q)
end
return 1
