--[[
Records of lanes, and what all lanes of a name have in common. Needs deliveries/lua/_about.lua. The keys are in _lanes.lua.
]]
local REC = '^(%d+) (%S+) ([R-]) (%d+) (%d+)(.*)$'
local MORE = '^ (%d+) (%d+) (%d+) ([01]) (%d+) (%d+) (%d+)$'

--[[
A record is `<next> <out> <state> <seen> <mean>`, and where one of them is not 0 ` <till> <tat> <limit> <paused> <returned> <later> <cancelled>`

next       number of the first body in the list, or of the next one to come
out        numbers in flight, with commas; '-': none
state      R: the lane is in `ready`
seen       us of the last delivery; 0: none since the lane was empty
mean       us between two deliveries, exponentially weighted; 0: unknown
till       ms until which the lane is parked
tat        us: theoretical arrival time of the rate (GCRA)
limit      messages in flight at most; 0: as the settings say
paused     1: by hand
returned   members of `again` with r
later      members of `again` with w
cancelled  members of `cancelled`
]]
local DEFAULTS = {
  __index = {
    till = 0, tat = 0, limit = 0, paused = false, returned = 0, later = 0, cancelled = 0, is_long = false, changed = false,
  },
}

-- `next`, `seen` and `mean` stay text: most scripts do not count with them. False for a text that is no record: an error would stop all
-- lanes, and so this one counts as a lane whose record was lost.
local function parse_rec(name, text)
  local next_number, out, state, seen, mean, more = string.match(text, REC)
  if not next_number then return false end
  local rec = setmetatable({
    name = name, next = next_number, out = out, state = state, seen = seen, mean = mean,
    out_count = out == '-' and 0 or (#out + 1) / 17,
  }, DEFAULTS)
  if more ~= '' then
    local till, tat, limit, paused, returned, later, cancelled = string.match(more, MORE)
    if not till then return false end
    rec.till, rec.tat, rec.limit, rec.paused = tonumber(till), tonumber(tat), tonumber(limit), paused == '1'
    rec.returned, rec.later, rec.cancelled, rec.is_long = tonumber(returned), tonumber(later), tonumber(cancelled), true
  end
  return rec
end

-- is_long: one of the fields behind `mean` may be other than 0.
local function write_rec(rec)
  local text = rec.next .. ' ' .. rec.out .. ' ' .. rec.state .. ' ' .. rec.seen .. ' ' .. rec.mean
  if not rec.is_long or rec.till == 0 and rec.tat == 0 and rec.limit == 0 and not rec.paused and rec.returned == 0
    and rec.later == 0 and rec.cancelled == 0 then return text end
  return text .. string.format(' %.0f %.0f %.0f %s %.0f %.0f %.0f', rec.till, rec.tat, rec.limit,
    rec.paused and '1' or '0', rec.returned, rec.later, rec.cancelled)
end

-- `<in flight> <when failed: p park, s skip, d dead letter> <attempts, 0: any number> <rate> <its us> <length, 0: any> r <dead letters kept> <ms of results> <ms of a deadline> <bytes of a body>`
-- The last two are missing in older ones.
local SETTINGS = '^(%d+) ([psd]) (%d+) (%d+) (%d+) (%d+) r (%d+) (%d+) ?(%d*) ?(%d*)$'

-- Words of a caller; '' stands for the settings as they are. A foreign text is refused before anything is written.
local function read_settings(q, words, stored)
  local text = words ~= '' and words or stored or '1 p 5 0 0 0 r 10000 3600000'
  local in_flight, when_failed, attempts, rate, rate_us, length, dead, results, deadline, bytes = string.match(text, SETTINGS)
  if not in_flight then foreign(q.about) end
  q.in_flight, q.when_failed, q.max_attempts = tonumber(in_flight), when_failed, tonumber(attempts)
  q.rate, q.rate_us, q.max_length, q.max_bytes = tonumber(rate), tonumber(rate_us), tonumber(length), tonumber(bytes) or 262144
  q.keep_dead, q.keep_results, q.deadline_ms = tonumber(dead), results, tonumber(deadline) or 30000
  if text ~= stored then q.settings = text end
end

local COUNT = {
  rec = 'HLEN', ready = 'LLEN', off = 'HLEN', idle = 'ZCARD', again = 'ZCARD', cancelled = 'ZCARD',
  held = 'SCARD', dead = 'ZCARD', letters = 'HLEN',
}

local function first_ms(key)
  local rows = checked(key, redis.pcall('ZRANGE', key, 0, 0, 'WITHSCORES'))
  return tonumber(rows[2])
end

-- Reads what the lanes remember of themselves, for a script that changes nothing.
local function view_lanes(q)
  open(q, '', { 'waiting' })
  q.recs, q.texts = {}, {}
end

-- The same for a script that changes something. Raises before anything is written where another program owns a key of this script.
local function open_lanes(q, memory, settings)
  open(q, memory, { 'looked', 'gone', 'scan', 'settings', 'waiting' })
  read_settings(q, settings, q.more[4])
  q.waiting = tonumber(q.more[5] or '0') or 0
  q.waited = q.waiting
  q.recs, q.texts, q.changed, q.ready_names, q.skipped, q.counts = {}, {}, {}, {}, 0, {}
  for name, command in pairs(COUNT) do
    if q[name] then q.counts[name] = checked(q[name], redis.pcall(command, q[name])) end
  end
  if q.away then q.away_ms = first_ms(q.away) end
  if q.later then q.later_ms = first_ms(q.later) end
end

-- Reads records as text: each is read once, parsed when it is needed, and written once by close_lanes.
local function load_recs(q, names)
  local missing = {}
  for _, name in ipairs(names) do
    if q.texts[name] == nil then
      q.texts[name] = false
      missing[#missing + 1] = name
    end
  end
  for first = 1, #missing, CHUNK do
    local last = math.min(first + CHUNK - 1, #missing)
    local texts = checked(q.rec, redis.pcall('HMGET', q.rec, unpack(missing, first, last)))
    for place = first, last do q.texts[missing[place]] = texts[place - first + 1] end
  end
end

-- False: the lane has no record, or one that was lost.
local function rec_of(q, name)
  local rec = q.recs[name]
  if rec == nil then
    if q.texts[name] == nil then load_recs(q, { name }) end
    local text = q.texts[name]
    rec = text and parse_rec(name, text)
    q.recs[name] = rec
  end
  return rec
end

local function list_key(q, name)
  return q.about .. ':lane:' .. name
end

-- The reply of a list. Nil where another program has put something else there, which counts as a list that was lost: an error would
-- stop all lanes.
local function of_list(reply)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if not string.find(reply.err, 'WRONGTYPE', 1, true) then error(reply) end
  return nil
end

local function length_of(q, rec)
  local length = rec.length
  if not length then
    length = of_list(redis.pcall('LLEN', list_key(q, rec.name))) or 0
    rec.length = length
  end
  return length
end
