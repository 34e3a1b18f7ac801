--[[
sit: a process states how many of its callers wait for each of some signals, and learns what was handed to it.

KEYS[1..n]  for each signal its seats, its mail, and `done` of each id that the process confirms: see _seats.lua
ARGV[1]     inbox  string  of the process
ARGV[2]     sure   0 or 1  see _seats.lua
ARGV[3]     owner  string  see _seats.lua
ARGV[4..]   for each signal, in the order of KEYS: revision, hearers, waits, room, the number of ids that the process
            confirms because a waiter has the signal, and those ids

Returns  one entry per signal: {id, hop, data, ...} of the signals that were handed to the process and are not confirmed; the
         text of the error where a key of this signal holds something else
Raises   nothing of its own

Retry    safe. A copy of a statement that is older than the last one confirms its ids, and changes nothing else
Clock    the server's, read once
Cost     O(n)
]]
--- @include "../../redis/lua/_clock.lua"
--- @include "_seats.lua"
local inbox, sure, owner = ARGV[1], ARGV[2], ARGV[3]
local now_ms = read_ms()

-- A few seats of others are looked at for each new one, so that those of the dead do not pile up where nobody emits.
local function tidy_some(seats, mail)
  local fields = redis.call('HRANDFIELD', seats, 3, 'WITHVALUES')
  for place = 1, #fields, 2 do
    tidy_seat(seats, mail, parse_seat(seats, fields[place], fields[place + 1]), now_ms)
  end
end

-- Only the first copy of a confirmation finds the signal in the mail.
local function confirm(mail, seat, confirmed)
  local gone = {}
  for _, one in ipairs(confirmed) do
    gone[one.id] = true
    local _, emitter = string.match(redis.call('HGET', mail, one.id) or '', MAIL)
    if emitter then
      redis.call('HDEL', mail, one.id)
      set_outcome(one.done, emitter, one.id, 2)
    end
  end
  local left = {}
  for _, id in ipairs(seat.ids) do
    if not gone[id] then left[#left + 1] = id end
  end
  seat.ids = left
end

local function sit(seats, mail, stated, confirmed)
  local seat = parse_seat(seats, inbox, checked(seats, redis.pcall('HGET', seats, inbox)))
  checked(mail, redis.pcall('HEXISTS', mail, ''))
  local is_new = not seat
  seat = seat or { inbox = inbox, revision = 0, ends = now_ms, hearers = 0, waits = 0, room = 0, ids = {} }
  confirm(mail, seat, confirmed)
  if is_new and stated.hearers == '0' then return {} end
  if stated.revision >= seat.revision then
    seat.revision, seat.ends, seat.sure, seat.owner = stated.revision, now_ms + SEAT_MS, sure, owner
    seat.hearers, seat.waits, seat.room = stated.hearers, stated.waits, stated.room
  end
  if is_new then tidy_some(seats, mail) end
  local handed, ids = {}, {}
  for _, id in ipairs(seat.ids) do
    local hop, _, data = string.match(redis.call('HGET', mail, id) or '', MAIL)
    if hop then
      ids[#ids + 1] = id
      handed[#handed + 1] = id
      handed[#handed + 1] = hop
      handed[#handed + 1] = data
    end
  end
  -- One without mail has been lost, and must not keep a waiter from the next.
  seat.ids = ids
  write_seat(seats, seat)
  keep(seats, #seat.ids > 0 and SEAT_MS + MAIL_MS or SEAT_MS)
  return handed
end

--- @include "../../redis/lua/_rights.lua"
--- @rights KEYS[1]
local outcomes, key, at = {}, 1, 4
while key < #KEYS do
  local stated = { revision = tonumber(ARGV[at]), hearers = ARGV[at + 1], waits = ARGV[at + 2], room = ARGV[at + 3] }
  local confirmed = {}
  for offset = 1, tonumber(ARGV[at + 4]) do
    confirmed[offset] = { id = ARGV[at + 4 + offset], done = KEYS[key + 1 + offset] }
  end
  local ok, outcome = pcall(sit, KEYS[key], KEYS[key + 1], stated, confirmed)
  outcomes[#outcomes + 1] = ok and outcome or type(outcome) == 'table' and outcome.err or tostring(outcome)
  key, at = key + 2 + #confirmed, at + 5 + #confirmed
end
return outcomes
