--[[
look: puts back what is due, and the deliveries of processes that are gone. See deliveries/lua/_gone.lua.

KEYS[1..10]  about, rec, ready, off, away, idle, later, again, cancelled, held   see _lanes.lua
KEYS[11..12] dead, letters                               see _lanes.lua
ARGV[1]      name      of the lanes, without blanks
ARGV[2]      inboxes   see deliveries/lua/_deliveries.lua
ARGV[3]      reach     see deliveries/lua/_deliveries.lua
ARGV[4]      settings  see _lanes.lua
ARGV[5]      results   see deliveries/lua/_deliveries.lua
ARGV[6]      process   the caller
ARGV[7]      stuck     its handlers that run after their time-out

Returns  {returned, due_ms, free}
         returned  messages that were put back
         due_ms    until something is due; -1: nothing is
         free      free places of the caller
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    safe
Clock    the server's, read once
Cost     O(log m) with m deliveries of all processes; every 700 ms also O(n) with n the processes, at most 1,000; a step of about 1,000 of m while
         those of the dead are put back
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_lanes.lua"
--- @include "../../deliveries/lua/_deal.lua"
--- @include "../../deliveries/lua/_due.lua"
--- @include "../../deliveries/lua/_gone.lua"
--- @include "../../deliveries/lua/_stuck.lua"
--- @include "_mend.lua"
local q = {
  about = KEYS[1], rec = KEYS[2], ready = KEYS[3], off = KEYS[4], away = KEYS[5], idle = KEYS[6], later = KEYS[7], again = KEYS[8],
  cancelled = KEYS[9], held = KEYS[10], dead = KEYS[11], letters = KEYS[12],
  verb = 'lanes', name = ARGV[1], inboxes = ARGV[2], reach = ARGV[3], results = ARGV[5],
}
local settings, process = ARGV[4], ARGV[6]
open_lanes(q, '', settings)
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about
go_on_at_maxmemory(q)
mend_some(q)
hear(q, process)
local returned = return_due(q)
if q.is_sure then returned = returned + look_for_gone(q, process) end
deal(q)
close_lanes(q)
tidy_memory(q)
note_stuck(q, process, ARGV[7])
local free = redis.call('ZSCORE', q.idle, process)
return { returned, due_in(q), free and -tonumber(free) or 0 }
