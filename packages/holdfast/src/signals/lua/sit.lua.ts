// Generated from sit.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "signals/lua/sit",
  sha1: "47ef65ad49e53a1de29dc68a4f73594a1aee4954",
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
local inbox, sure, owner = ARGV[1], ARGV[2], ARGV[3]
local now_ms = read_ms()
local function tidy_some(seats, mail)
  local fields = redis.call('HRANDFIELD', seats, 3, 'WITHVALUES')
  for place = 1, #fields, 2 do
    local seat = parse_seat(fields[place], fields[place + 1])
    if seat then tidy_seat(seats, mail, seat, now_ms) end
  end
end
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
  local seat = parse_seat(inbox, checked(seats, redis.pcall('HGET', seats, inbox)))
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
  write_seat(seats, seat)
  keep(seats, #seat.ids > 0 and SEAT_MS + MAIL_MS or SEAT_MS)
  local handed = {}
  for _, id in ipairs(seat.ids) do
    local hop, _, data = string.match(redis.call('HGET', mail, id) or '', MAIL)
    if hop then
      handed[#handed + 1] = id
      handed[#handed + 1] = hop
      handed[#handed + 1] = data
    end
  end
  return handed
end
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
`,
};
