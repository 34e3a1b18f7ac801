// Generated from emit.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "signals/lua/emit",
  sha1: "6c49c094dc7f6a6341e367c1656f601236bdcc65",
  source: `local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local SEAT_MS = 15000
local MAIL_MS = 60000
local CHUNK = 1000
local SEAT = '^(%d+) (%d+) (%d+) (%d+) (%d+) ([01]) (%S*) (.*)$'
local function read_ms()
  return math.floor(tonumber(read_clock()) / 1000)
end
local function checked(key, reply)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if not string.find(reply.err, 'WRONGTYPE') then error(reply) end
  error({ err = 'WRONGTYPE the key of this signal holds something else: ' .. key })
end
local function parse_seat(inbox, text)
  local revision, ends, hearers, waits, room, sure, ids, owner = string.match(text or '', SEAT)
  if not revision then return nil end
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
local function keep(key, ms)
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, ms) end
end
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
    found[#found + 1] = parse_seat(fields[place], fields[place + 1])
  end
  return found
end
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
  redis.call('PUBLISH', emitter, 'emitted ' .. id .. ' ' .. outcome)
end
local function free_waits(seat)
  return math.max(0, seat.waits - #seat.ids)
end
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
local function hand_over(seats, mail, seat, signal)
  seat.ids[#seat.ids + 1] = signal.id
  write_seat(seats, seat)
  redis.call('HSET', mail, signal.id, signal.hop .. ' ' .. signal.emitter .. ' ' .. signal.data)
  keep(seats, SEAT_MS + MAIL_MS)
  keep(mail, SEAT_MS + MAIL_MS)
  redis.call('PUBLISH', seat.inbox,
    'signal ' .. signal.name .. ' ' .. signal.hop .. ' ' .. signal.id .. ' ' .. signal.data)
end
local seats = KEYS[1]
local channel, message, elsewhere = ARGV[1], ARGV[2], ARGV[3] == '1'
local all = all_seats(seats)
local is_heard = redis.call('PUBLISH', channel, message) > 0 or elsewhere
if #all == 0 then return 0 end
local heard = 0
for _, seat in ipairs(live_seats(all, read_ms(), elsewhere)) do
  if is_heard or seat.sure == '1' then heard = heard + seat.hearers - seat.waits + free_waits(seat) end
end
return heard
`,
};
