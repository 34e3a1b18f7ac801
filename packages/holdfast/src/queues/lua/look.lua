--[[
look: puts back what is due, and the deliveries of processes that are gone. See deliveries/lua/_gone.lua.

KEYS[1..9]  about, line, off, away, idle, later, again, dead, letters   see _queue.lua
ARGV[1]   name          of the queue, without blanks
ARGV[2]   inboxes       see deliveries/lua/_deliveries.lua
ARGV[3]   reach         see deliveries/lua/_deliveries.lua
ARGV[4]   order         "fifo", "lifo", or '' for whatever it has
ARGV[5]   max_attempts  integer, 0: no bound
ARGV[6]   keep_dead     integer
ARGV[7]   keep_results  in ms
ARGV[8]   results       see deliveries/lua/_deliveries.lua
ARGV[9]   process       without ":"
ARGV[10]  stuck         its handlers that run after their time-out

Returns  {returned, due, free}  returned: the messages that were put back. due: ms until something is due, -1: nothing is. free: the
                    free places of the process
         {'order', order}  the queue has another order; nothing was changed
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    safe
Clock    the server's, read once
Cost     O(log m) with m the deliveries of all processes; every 700 ms also O(n) with n the processes, at most 1,000; a step of about 1,000
         of m while those of the dead are put back
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_queue.lua"
--- @include "../../deliveries/lua/_deal.lua"
--- @include "../../deliveries/lua/_due.lua"
--- @include "../../deliveries/lua/_gone.lua"
--- @include "../../deliveries/lua/_stuck.lua"
local q = {
  about = KEYS[1], line = KEYS[2], off = KEYS[3], away = KEYS[4], idle = KEYS[5], later = KEYS[6], again = KEYS[7], dead = KEYS[8],
  letters = KEYS[9], may_bury = true, verb = 'queue', name = ARGV[1], inboxes = ARGV[2], reach = ARGV[3], max_attempts = tonumber(ARGV[5]),
  keep_dead = tonumber(ARGV[6]), keep_results = ARGV[7], results = ARGV[8],
}
local order, process = ARGV[4], ARGV[9]
open(q, '', { 'looked', 'gone', 'scan' })
local other = other_order(q, order)
if other then return { 'order', other } end
check(q)
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about
go_on_at_maxmemory(q)
hear(q, process)
local returned = return_due(q)
if q.is_sure then returned = returned + look_for_gone(q, process) end
if returned > 0 then deal(q) end
close(q)
tidy_memory(q)
note_stuck(q, process, ARGV[10])
local free = redis.call('ZSCORE', q.idle, process)
return { returned, due_in(q), free and -tonumber(free) or 0 }
