--[[
The seats of a signal: a process whose callers wait for a signal has one seat for its name. Needs _clock.lua.

seats  hash  inbox of the process -> "<revision> <ends> <hearers> <waits> <room> <sure> <ids> <owner>"
             revision  rises with each statement of the process, so that a late copy of an older one changes nothing
             ends      in ms: the seat is over then, unless the process states it again
             hearers   callers that hear the next `emit`
             waits     those of them that take one signal and are done
             room      those of them that take one signal after the other, and have room for more
             sure      1: the process listens at a replica too, so no listener at this server does not mean that it is gone
             ids       the signals that were handed to it, without those that it has confirmed; with commas
             owner     JSON, opaque here
mail   hash  id of a signal that was handed over, until it is confirmed -> "<hop> <emitter> <data>"
             hop       rises each time that a process, which had nobody left to give it to, passes it on
             emitter   inbox of the process that waits for the outcome
done         the outcome of one emitOne, for a minute: 0 nobody waited, 1 handed over, 2 a waiter has it

The outcome is published to the emitter as "emitted <id> <outcome>".

A seat without hearers stays until its end, so that a late copy of an older statement does not bring it back.
]]
--- @include "../../redis/lua/_message.lua"
--- @include "../../redis/lua/_checked.lua"
local SEAT_MS = 15000
-- How long a signal waits for a process that does not state its seat again, because it is paused or cut off.
local MAIL_MS = 60000

local SEAT = '^(%d+) (%d+) (%d+) (%d+) (%d+) ([01]) (%S*) (.*)$'

local function read_ms()
  return math.floor(tonumber(read_clock()) / 1000)
end

local function parse_seat(seats, inbox, text)
  local revision, ends, hearers, waits, room, sure, ids, owner = string.match(text or '', SEAT)
  if not revision then return text and foreign(seats, text) or nil end
  local seat = {
    inbox = inbox, revision = tonumber(revision), ends = tonumber(ends), hearers = tonumber(hearers),
    waits = tonumber(waits), room = tonumber(room), sure = sure, ids = {}, owner = owner,
  }
  for id in string.gmatch(ids, '[^,]+') do seat.ids[#seat.ids + 1] = id end
  return seat
end

local function write_seat(seats, seat)
  redis.call('HSET', seats, seat.inbox, table.concat({
    string.format('%.0f', seat.revision), string.format('%.0f', seat.ends), seat.hearers, seat.waits, seat.room,
    seat.sure, table.concat(seat.ids, ','), seat.owner,
  }, ' '))
end

-- The key lives for `ms` at least.
local function keep(key, ms)
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, ms) end
end

-- Removes a seat that is over, and signals that nobody came for. A clock that was set back must not keep the dead alive.
local function tidy_seat(seats, mail, seat, now_ms)
  if seat.ends > now_ms + SEAT_MS then
    seat.ends = now_ms + SEAT_MS
    write_seat(seats, seat)
  elseif seat.ends + (#seat.ids > 0 and MAIL_MS or 0) < now_ms then
    redis.call('HDEL', seats, seat.inbox)
    for _, id in ipairs(seat.ids) do redis.call('HDEL', mail, id) end
  end
end

local function all_seats(seats)
  local found, fields = {}, checked(seats, redis.pcall('HGETALL', seats))
  for place = 1, #fields, 2 do
    found[#found + 1] = parse_seat(seats, fields[place], fields[place + 1])
  end
  return found
end

-- The seats whose processes are there, as far as this server knows. elsewhere: a process may listen at another server.
local function live_seats(all, now_ms, elsewhere)
  local live, unsure = {}, {}
  for _, seat in ipairs(all) do
    if seat.ends >= now_ms and seat.hearers > 0 then
      if elsewhere or seat.sure == '1' then live[#live + 1] = seat else unsure[#unsure + 1] = seat end
    end
  end
  for first = 1, #unsure, CHUNK do
    local inboxes = {}
    for place = first, math.min(first + CHUNK - 1, #unsure) do inboxes[#inboxes + 1] = unsure[place].inbox end
    local counts = redis.call('PUBSUB', 'NUMSUB', unpack(inboxes))
    for place = 1, #inboxes do
      if counts[2 * place] > 0 then live[#live + 1] = unsure[first + place - 1] end
    end
  end
  return live
end

local MAIL = '^(%d+) (%S+) (.*)$'

local function set_outcome(done, emitter, id, outcome)
  redis.call('SET', done, outcome, 'PX', MAIL_MS)
  send(emitter, '', 'emitted ' .. id .. ' ' .. outcome)
end

-- Waiters that were chosen, and have not confirmed it, wait no more.
local function free_waits(seat)
  return math.max(0, seat.waits - #seat.ids)
end

-- One of the seats, at random, each with the weight of its waiters; nil: nobody waits.
local function choose_seat(all, now_ms, elsewhere, except, fraction)
  local free, total = {}, 0
  for _, seat in ipairs(live_seats(all, now_ms, elsewhere)) do
    local weight = free_waits(seat) + seat.room
    if weight > 0 and seat.inbox ~= except then
      total = total + weight
      free[#free + 1] = { seat = seat, upto = total }
    end
  end
  for _, one in ipairs(free) do
    if fraction * total < one.upto then return one.seat end
  end
  return nil
end

-- Written first and published second: a server that refuses the write has told nobody.
local function hand_over(seats, mail, seat, signal)
  seat.ids[#seat.ids + 1] = signal.id
  write_seat(seats, seat)
  redis.call('HSET', mail, signal.id, signal.hop .. ' ' .. signal.emitter .. ' ' .. signal.data)
  keep(seats, SEAT_MS + MAIL_MS)
  keep(mail, SEAT_MS + MAIL_MS)
  send(seat.inbox, '',
    'signal ' .. signal.name .. ' ' .. signal.hop .. ' ' .. signal.id .. ' ' .. signal.data)
end
