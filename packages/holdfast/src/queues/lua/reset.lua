--[[
reset: deletes a queue with all that it has, but for its largest number where the clock is not beyond it. What is in flight is late from
now on. Processes with free places take again.

KEYS[1..9]  about, line, off, away, idle, later, again, dead, letters   see _queue.lua
ARGV[1]   name     of the queue, without blanks
ARGV[2]   inboxes  see deliveries/lua/_deliveries.lua

Returns  1: there was something. 0: nothing
Raises   nothing of its own: keys of other types are deleted as well

Retry    tells of its own run: a second copy finds nothing
Clock    the server's, read once
Cost     O(n) with n the processes that are idle; the rest is freed in the background
]]
--- @include "../../redis/lua/_message.lua"
--- @include "../../deliveries/lua/_heard.lua"
--- @include "../../deliveries/lua/_reset.lua"
local about, idle = KEYS[1], KEYS[5]
local name, inboxes = ARGV[1], ARGV[2]
local processes, last = redis.pcall('ZRANGE', idle, 0, -1), largest_of(about)
--- @include "../../redis/lua/_rights.lua"
--- @rights about
-- An earlier reset may have left the largest number.
local is_left = last > 0 and redis.call('HLEN', about) == 1
local is_there = redis.call('UNLINK', unpack(KEYS)) > (is_left and 1 or 0)
redis.call('UNLINK', heard_key({ about = about }))
go_on_after(about, last)
for _, process in ipairs(processes) do send(inboxes .. process, '', 'queue ' .. name) end
return is_there and 1 or 0
