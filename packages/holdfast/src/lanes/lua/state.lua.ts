// Generated from state.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "lanes/lua/state",
  sha1: "1b00e62425ac37fbee3c6e4ab5e971965331a656",
  source: `local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local CHUNK = 1000
local function checked(key, reply)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if not string.find(reply.err, 'WRONGTYPE') then error(reply) end
  error({ err = 'WRONGTYPE another program owns the key ' .. key })
end
local MEMORY = 4
local MEMORY_US = 300000000
local function digits(number)
  return string.format('%016.0f', number)
end
local function open(q, memory, more)
  local us = tonumber(read_clock())
  q.did = 'did:' .. memory
  local about = checked(q.about,
    redis.pcall('HMGET', q.about, 'last', 'skew', 'order', 'paused', q.did, unpack(more or {})))
  q.last, q.skew = tonumber(about[1] or '0'), tonumber(about[2] or '0')
  q.had, q.order, q.paused, q.memory = q.last, about[3], about[4], about[5]
  if more then q.more = { unpack(about, 6) } end
  if us + q.skew + 1000000 < q.last then
    q.skew, q.is_skewed = q.last - us, true
  end
  q.us = us + q.skew
  q.ms = math.floor(q.us / 1000)
  if q.us > 9007199200000000 then error({ err = 'ERR the numbers of this queue are used up: reset it' }) end
end
local function next_number(q)
  local number = q.last + 1
  if q.us > number then number = q.us end
  q.last = number
  return number
end
local function remembered(q, seq)
  if not q.memory then return nil end
  local _, at = string.find(q.memory, ' ' .. seq .. '=', 1, true)
  if at then return string.match(q.memory, '^%S*', at + 1) end
  return nil, tonumber(seq) <= tonumber(string.match(q.memory, '^%d+ (%d+)') or '0')
end
local function add_answer(q, seq, answer, last)
  local entry = ' ' .. seq .. '=' .. answer
  if not q.memory then return last .. ' 0' .. entry end
  local forgotten, oldest, rest = string.match(q.memory, '^%d+ (%d+) (%d+)=%S*(.*)$')
  local least = tonumber(seq) - MEMORY
  if tonumber(oldest) > least then return last .. string.sub(q.memory, 17) .. entry end
  while oldest and tonumber(oldest) <= least do
    if tonumber(oldest) > tonumber(forgotten) then forgotten = oldest end
    q.memory = rest
    oldest, rest = string.match(rest, '^ (%d+)=%S*(.*)$')
  end
  return last .. ' ' .. forgotten .. q.memory .. entry
end
local function go_on_at_maxmemory(q)
  redis.call('HDEL', q.about, 'never there')
end
local function tidy_memory(q)
  local fields = redis.call('HRANDFIELD', q.about, 3, 'WITHVALUES')
  for place = 1, #fields, 2 do
    local is_memory = string.sub(fields[place], 1, 4) == 'did:'
    if is_memory and tonumber(string.sub(fields[place + 1], 1, 16)) < q.us - MEMORY_US then
      redis.call('HDEL', q.about, fields[place])
    end
  end
end
local function other_order(q, order)
  if order == '' then
    q.order = q.order or 'fifo'
    return nil
  end
  if q.order and q.order ~= order then return q.order end
  q.is_new, q.order = not q.order, order
  return nil
end
local function close(q, seq, answer)
  if not (answer or q.is_skewed or q.is_new or q.fields) and q.last == q.had then return end
  local last = digits(q.last)
  local fields = { 'last', last }
  if answer then fields[3], fields[4] = q.did, add_answer(q, seq, answer, last) end
  if q.is_skewed then
    fields[#fields + 1] = 'skew'
    fields[#fields + 1] = string.format('%.0f', q.skew)
  end
  if q.is_new then
    fields[#fields + 1] = 'order'
    fields[#fields + 1] = q.order
  end
  for _, word in ipairs(q.fields or {}) do fields[#fields + 1] = word end
  redis.call('HSET', q.about, unpack(fields))
  if answer and not q.memory then tidy_memory(q) end
end
local REC = '^(%d+) (%S+) ([R-]) (%d+) (%d+)(.*)$'
local MORE = '^ (%d+) (%d+) (%d+) ([01]) (%d+) (%d+) (%d+)$'
local DEFAULTS = {
  __index = {
    till = 0, tat = 0, limit = 0, paused = false, returned = 0, later = 0, cancelled = 0, is_long = false, changed = false,
  },
}
local function parse_rec(name, text)
  local next_number, out, state, seen, mean, more = string.match(text, REC)
  if not next_number then error({ err = 'WRONGTYPE a record of these lanes holds something else: ' .. name }) end
  local rec = setmetatable({
    name = name, next = next_number, out = out, state = state, seen = seen, mean = mean,
    out_count = out == '-' and 0 or (#out + 1) / 17,
  }, DEFAULTS)
  if more ~= '' then
    local till, tat, limit, paused, returned, later, cancelled = string.match(more, MORE)
    if not till then error({ err = 'WRONGTYPE a record of these lanes holds something else: ' .. name }) end
    rec.till, rec.tat, rec.limit, rec.paused = tonumber(till), tonumber(tat), tonumber(limit), paused == '1'
    rec.returned, rec.later, rec.cancelled, rec.is_long = tonumber(returned), tonumber(later), tonumber(cancelled), true
  end
  return rec
end
local function write_rec(rec)
  local text = rec.next .. ' ' .. rec.out .. ' ' .. rec.state .. ' ' .. rec.seen .. ' ' .. rec.mean
  if not rec.is_long or rec.till == 0 and rec.tat == 0 and rec.limit == 0 and not rec.paused and rec.returned == 0
    and rec.later == 0 and rec.cancelled == 0 then return text end
  return text .. string.format(' %.0f %.0f %.0f %s %.0f %.0f %.0f', rec.till, rec.tat, rec.limit,
    rec.paused and '1' or '0', rec.returned, rec.later, rec.cancelled)
end
local SETTINGS = '^(%d+) ([psd]) (%d+) (%d+) (%d+) (%d+) ([rd]) (%d+) (%d+)$'
local function read_settings(q, words, stored)
  local text = words ~= '' and words or stored or '1 p 5 0 0 0 r 10000 3600000'
  local in_flight, when_failed, attempts, rate, rate_us, length, when_full, dead, results = string.match(text, SETTINGS)
  if not in_flight then error({ err = 'WRONGTYPE another program owns the key ' .. q.about }) end
  q.in_flight, q.when_failed, q.max_attempts = tonumber(in_flight), when_failed, tonumber(attempts)
  q.rate, q.rate_us, q.max_length, q.when_full = tonumber(rate), tonumber(rate_us), tonumber(length), when_full
  q.keep_dead, q.keep_results = tonumber(dead), results
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
local function view_lanes(q)
  open(q, '', { 'settings', 'waiting' })
  q.recs, q.texts = {}, {}
end
local function open_lanes(q, memory, settings)
  open(q, memory, { 'looked', 'gone', 'settings', 'waiting' })
  read_settings(q, settings, q.more[3])
  q.waiting = tonumber(q.more[4] or '0')
  q.waited = q.waiting
  q.recs, q.texts, q.changed, q.ready_names, q.skipped = {}, {}, {}, {}, 0
  for name, command in pairs(COUNT) do
    if q[name] then checked(q[name], redis.pcall(command, q[name])) end
  end
  if q.away then q.away_ms = first_ms(q.away) end
  if q.later then q.later_ms = first_ms(q.later) end
end
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
local function length_of(q, rec)
  local length = rec.length
  if not length then
    length = redis.call('LLEN', list_key(q, rec.name))
    rec.length = length
  end
  return length
end
local q = {
  about = KEYS[1], rec = KEYS[2], ready = KEYS[3], off = KEYS[4], away = KEYS[5], idle = KEYS[6], later = KEYS[7], again = KEYS[8],
  cancelled = KEYS[9], held = KEYS[10], dead = KEYS[11],
}
view_lanes(q)
local stored = tonumber(q.more[2] or '0')
local delayed = redis.call('ZLEXCOUNT', q.again, '[w ', '(w!')
local waiting = stored - redis.call('ZCARD', q.cancelled) + redis.call('ZCARD', q.again) - delayed
local free, idle = 0, redis.call('ZRANGE', q.idle, 0, -1, 'WITHSCORES')
for place = 2, #idle, 2 do free = free - tonumber(idle[place]) end
return {
  redis.call('EXISTS', q.about), q.paused and 1 or 0, redis.call('HLEN', q.rec), math.max(0, waiting), delayed,
  redis.call('ZCARD', q.away), redis.call('ZCARD', q.later) - delayed, redis.call('SCARD', q.held), redis.call('ZCARD', q.dead), free,
  #idle / 2, q.more[1] or '',
}
`,
};
