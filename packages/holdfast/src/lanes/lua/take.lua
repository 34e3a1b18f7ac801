--[[
take: settles deliveries, and takes others, each of the lane whose turn it is.

KEYS[1..10]  about, rec, ready, off, away, idle, later, again, cancelled, held   see _lanes.lua
KEYS[11..12] dead, letters                               see _lanes.lua
ARGV[1]      name      of the lanes, without blanks
ARGV[2]      inboxes   see deliveries/lua/_deliveries.lua
ARGV[3]      reach     see deliveries/lua/_deliveries.lua
ARGV[4]      settings  see _lanes.lua
ARGV[5]      memory    of the caller, see deliveries/lua/_about.lua
ARGV[6]      seq       integer, see deliveries/lua/_about.lua
ARGV[7]      process   the caller
ARGV[8]      results   see deliveries/lua/_deliveries.lua
ARGV[9]      want      integer: messages to take; what is missing becomes the free places of the process
ARGV[10..2n] acks      handle and result of each; the result '' where none is stored

Returns  {late, due_ms, newest, deadline_ms, handle, body, handle, body, ...}
         late    places of refused acks from 0, with commas
         due_ms  until something is due; -1: nothing is; 0 also where more waits than one script takes, and the process has no free places
         newest  a later gift has a larger token, an earlier one has not
         deadline_ms  as the settings say
         {'forgotten'}  a copy of a request whose answer is no longer known; nothing was changed
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    a second copy settles nothing and takes nothing, and returns the same late ones
Clock    the server's, read once
Cost     O(n log m) with m deliveries of all processes
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_lanes.lua"
--- @include "../../deliveries/lua/_deal.lua"
--- @include "../../deliveries/lua/_due.lua"
local q = {
  about = KEYS[1], rec = KEYS[2], ready = KEYS[3], off = KEYS[4], away = KEYS[5], idle = KEYS[6], later = KEYS[7], again = KEYS[8],
  cancelled = KEYS[9], held = KEYS[10], dead = KEYS[11], letters = KEYS[12],
  verb = 'lanes', name = ARGV[1], inboxes = ARGV[2], reach = ARGV[3], results = ARGV[8],
}
local settings, memory, seq, process, want = ARGV[4], ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[9])
local first_ack = 10
open_lanes(q, memory, settings)
local answer, is_forgotten = remembered(q, seq)
if is_forgotten then return { 'forgotten' } end
if answer then return { answer, due_in(q), newest(q), q.deadline_ms } end
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about

-- The lanes of acknowledged messages go on.
local function free_lanes(late)
  local done, names = {}, {}
  for place = first_ack, #ARGV, 2 do
    local _, number, _, _, lane = string.match(ARGV[place], HANDLE)
    if number and not (late and late[(place - first_ack) / 2]) then
      done[#done + 1] = number
      names[#names + 1] = lane
    end
  end
  load_recs(q, names)
  for place, name in ipairs(names) do
    local rec = change(q, name)
    drop_out(rec, done[place])
    arrange(q, rec)
  end
end

local late
if #ARGV >= first_ack then
  late = settle(q, { unpack(ARGV, first_ack) })
  free_lanes(late)
else
  go_on_at_maxmemory(q)
end
return_due(q)
hear(q, process)
if #ARGV >= first_ack then set_slow(q, process, false) end
-- What it let run out goes to somebody else first.
if is_slow(q, process) then deal(q) end
local reply, parked = { late_text(late), -1, '', q.deadline_ms }, {}
if not q.paused then parked = take_for(q, process, want) end
for place = 1, #parked do reply[place + 4] = parked[place] end
if #parked > 0 then q.away_ms = math.min(q.away_ms or math.huge, q.ms + q.first_lease_ms) end
local missing = want - #parked / 2
local is_short = missing > 0 and not q.paused and has_more(q)
if missing > 0 and not is_short then
  redis.call('ZADD', q.idle, -missing, process)
else
  redis.call('ZREM', q.idle, process)
end
deal(q)
-- A process that takes learns of it by the reply.
if q.is_sooner and want == 0 then tell_one(q) end
local is_changed = #ARGV >= first_ack or #parked > 0
close_lanes(q, seq, is_changed and reply[1] or nil)
reply[2] = is_short and 0 or due_in(q)
reply[3] = newest(q)
return reply
