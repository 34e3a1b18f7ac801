--[[
back: puts deliveries of a process back, each before the line or for later. After its last attempt a message becomes a dead letter.

KEYS[1..9]  about, line, off, away, idle, later, again, dead, letters   see _queue.lua
ARGV[1]   name          of the queue, without blanks
ARGV[2]   inboxes       see deliveries/lua/_deliveries.lua
ARGV[3]   reach         see deliveries/lua/_deliveries.lua
ARGV[4]   order         "fifo", "lifo", or '' for whatever it has
ARGV[5]   max_attempts  integer, 0: no bound
ARGV[6]   keep_dead     integer
ARGV[7]   keep_results  in ms
ARGV[8]   results       see deliveries/lua/_deliveries.lua
ARGV[9]   memory        of the caller, see deliveries/lua/_about.lua
ARGV[10]  seq           integer, see deliveries/lua/_about.lua
ARGV[11..n] returns     at most 1,000; of each delivery its handle, a delay in ms, 1 or 0: it counts as an attempt, and the reason of its failure

Returns  {late}  the places of those that were over before, from 0: '' or "0,3"
         {'order', order}  the queue has another order; nothing was changed
         {'forgotten'}     a copy of a request whose answer is no longer known; nothing was changed
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    a second copy changes nothing, and returns the same
Clock    the server's, read once
Cost     O(n log m) with n the deliveries returned, and m those of all processes
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_queue.lua"
--- @include "../../deliveries/lua/_deal.lua"
local q = {
  about = KEYS[1], line = KEYS[2], off = KEYS[3], away = KEYS[4], idle = KEYS[5], later = KEYS[6], again = KEYS[7], dead = KEYS[8],
  letters = KEYS[9], may_bury = true, verb = 'queue', name = ARGV[1], inboxes = ARGV[2], reach = ARGV[3], max_attempts = tonumber(ARGV[5]),
  keep_dead = tonumber(ARGV[6]), keep_results = ARGV[7], results = ARGV[8],
}
local order, memory, seq, first_return = ARGV[4], ARGV[9], ARGV[10], 11
open(q, memory)
local answer, is_forgotten = remembered(q, seq)
if answer then return { answer } end
if is_forgotten then return { 'forgotten' } end
local other = other_order(q, order)
if other then return { 'order', other } end
check(q)
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about

local late, handles = nil, {}
for place = first_return, #ARGV, 4 do handles[#handles + 1] = ARGV[place] end
for place, item in ipairs(recall(q, handles)) do
  local at = first_return + 4 * (place - 1)
  if not item then
    late = late or {}
    late[place - 1] = true
  else
    give_back(q, item, tonumber(ARGV[at + 1]), ARGV[at + 2] == '1' and ARGV[at + 3] or nil)
  end
end
deal(q)
if q.is_sooner then tell_one(q) end
answer = late_text(late)
close(q, seq, answer)
return { answer }
