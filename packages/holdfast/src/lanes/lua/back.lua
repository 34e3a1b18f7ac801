--[[
back: returns deliveries to their lanes. A failed message waits for its time, and its lane with it or not, as the settings say; after its
last attempt it becomes a dead letter.

KEYS[1..10]  about, rec, ready, off, away, idle, later, again, cancelled, held   see _lanes.lua
KEYS[11..12] dead, letters                               see _lanes.lua
ARGV[1]      name      of the lanes, without blanks
ARGV[2]      inboxes   see deliveries/lua/_deliveries.lua
ARGV[3]      reach     see deliveries/lua/_deliveries.lua
ARGV[4]      settings  see _lanes.lua
ARGV[5]      memory    of the caller, see deliveries/lua/_about.lua
ARGV[6]      seq       integer, see deliveries/lua/_about.lua
ARGV[7]      results   see deliveries/lua/_deliveries.lua
ARGV[8..4n]  returns   handle, delay in ms, 1 where it was an attempt or 0, and reason of each

Returns  places of late ones from 0, with commas: their deliveries were over before
         "forgotten"  a copy of a request whose answer is no longer known; nothing was changed
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    a second copy returns nothing to the lanes, and answers the same
Clock    the server's, read once
Cost     O(n log m) with m deliveries of all processes
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_lanes.lua"
--- @include "../../deliveries/lua/_deal.lua"
local q = {
  about = KEYS[1], rec = KEYS[2], ready = KEYS[3], off = KEYS[4], away = KEYS[5], idle = KEYS[6], later = KEYS[7], again = KEYS[8],
  cancelled = KEYS[9], held = KEYS[10], dead = KEYS[11], letters = KEYS[12],
  verb = 'lanes', name = ARGV[1], inboxes = ARGV[2], reach = ARGV[3], results = ARGV[7],
}
local settings, memory, seq = ARGV[4], ARGV[5], ARGV[6]
local first_return = 8
open_lanes(q, memory, settings)
local answer, is_forgotten = remembered(q, seq)
if answer then return answer end
if is_forgotten then return 'forgotten' end
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about

local handles, late = {}, nil
for place = first_return, #ARGV, 4 do handles[#handles + 1] = ARGV[place] end
for place, item in ipairs(recall(q, handles)) do
  local at = first_return + 4 * (place - 1)
  if item then
    give_back(q, item, tonumber(ARGV[at + 1]), ARGV[at + 2] == '1' and ARGV[at + 3] or nil, true)
  else
    late = late or {}
    late[place - 1] = true
  end
end
deal(q)
if q.is_sooner then tell_one(q) end
answer = late_text(late)
close_lanes(q, seq, answer)
return answer
