--[[
take: settles deliveries of a process, puts back what is due, and gives the process what it wants, as far as there is any. The rest
of what it wants becomes its free places.

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
ARGV[10]  memory        of the caller, see deliveries/lua/_about.lua
ARGV[11]  seq           integer, see deliveries/lua/_about.lua
ARGV[12]  want          integer
ARGV[13..n] acks        handle and result of each message that is done; '' stores no result

Returns  {late, due, newest, handle, body, ...}  late: the places of refused acks, from 0: '' or "0,3". due: ms until something is
                    due, -1: nothing is; 0 also where more waits than one script takes, and then the process has no free places.
                    newest: a later gift has a larger token, an earlier one has not
         {'order', order}  the queue has another order; nothing was changed
         {'forgotten'}     a copy of a request whose answer is no longer known; nothing was changed
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    a second copy settles nothing and takes nothing. It returns the same `late`
Clock    the server's, read once
Cost     O(n log m) with n the messages taken and acknowledged, and m the deliveries of all processes
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_queue.lua"
--- @include "../../deliveries/lua/_deal.lua"
--- @include "../../deliveries/lua/_due.lua"
local q = {
  about = KEYS[1], line = KEYS[2], off = KEYS[3], away = KEYS[4], idle = KEYS[5], later = KEYS[6], again = KEYS[7], dead = KEYS[8],
  letters = KEYS[9], verb = 'queue', name = ARGV[1], inboxes = ARGV[2], reach = ARGV[3], max_attempts = tonumber(ARGV[5]),
  keep_dead = tonumber(ARGV[6]), keep_results = ARGV[7], results = ARGV[8],
}
local order, process, memory, seq, want = ARGV[4], ARGV[9], ARGV[10], ARGV[11], tonumber(ARGV[12])
local MOST_TAKEN = 1000
open(q, memory)
local answer, is_forgotten = remembered(q, seq)
if is_forgotten then return { 'forgotten' } end
local other = other_order(q, order)
if other then return { 'order', other } end
check(q)
if answer then return { answer, due_in(q), newest(q) } end
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about

local acks = {}
for place = 13, #ARGV do acks[#acks + 1] = ARGV[place] end
if #acks == 0 then go_on_at_maxmemory(q) end
local late = settle(q, acks)
return_due(q)
hear(q, process)
if #acks > 0 then set_slow(q, process, false) end
-- What it let run out goes to somebody else first.
if q.idlers > 0 and is_slow(q, process) then deal(q) end
local reply, parked = { late_text(late), 0, '' }, {}
if not q.paused then parked = take_for(q, process, math.min(want, MOST_TAKEN)) end
for place = 1, #parked do reply[place + 3] = parked[place] end
local missing = want - #parked / 2
local is_short = missing > 0 and has_more(q) and not q.paused
if missing > 0 and not is_short then
  redis.call('ZADD', q.idle, -missing, process)
elseif q.idlers > 0 then
  redis.call('ZREM', q.idle, process)
end
if q.idlers > 0 then deal(q) end
if #parked > 0 then q.away_ms = math.min(q.away_ms or math.huge, q.ms + q.first_lease_ms) end
if not is_short then reply[2] = due_in(q) end
reply[3] = newest(q)
local is_changed = #acks > 0 or #parked > 0
close(q, seq, is_changed and reply[1] or nil)
return reply
