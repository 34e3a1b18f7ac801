// Generated from drain.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "lanes/lua/drain",
  sha1: "1b0504f7fa02cf6796a55d9b0fa56da6ba48798f",
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
local HANDLE = '^(%d+):(%d+):(%d+):([^:]*):?(.*)$'
local FIRST_LEASE_MS = 3000
local function id_of(number, lane)
  return lane == '' and number or number .. '@' .. lane
end
local function set_outcome(q, number, kind, text)
  redis.call('SET', q.about .. ':result:' .. number, kind .. ' ' .. text, 'PX', q.keep_results)
  redis.call('PUBLISH', q.results .. number, kind)
end
local function settle(q, words)
  local late
  for first = 1, #words, 2 * CHUNK do
    local handles = {}
    for place = first, math.min(first + 2 * CHUNK - 1, #words), 2 do handles[#handles + 1] = words[place] end
    if redis.call('HDEL', q.off, unpack(handles)) < #handles then
      for place, ms in ipairs(redis.call('ZMSCORE', q.away, unpack(handles))) do
        if not ms then
          late = late or {}
          late[(first - 1) / 2 + place - 1] = true
        end
      end
    end
    redis.call('ZREM', q.away, unpack(handles))
  end
  for place = 2, #words, 2 do
    if words[place] ~= '' and not (late and late[place / 2 - 1]) then
      local token, number, _, _, lane = string.match(words[place - 1], HANDLE)
      set_outcome(q, id_of(number, lane), 'done', token .. ' ' .. words[place])
    end
  end
  return late
end
local function late_text(late)
  if not late then return '' end
  local places = {}
  for place in pairs(late) do places[#places + 1] = place end
  table.sort(places)
  return table.concat(places, ',')
end
local function deliver(q, parked, item, process)
  local handle = digits(next_number(q)) .. ':' .. item.number .. ':' .. item.attempts + 1 .. ':' .. process
  if item.lane then handle = handle .. ':' .. item.lane end
  parked[#parked + 1] = handle
  parked[#parked + 1] = item.body
  return handle
end
local function newest(q)
  return digits(math.max(q.last, q.us - 1))
end
local function park(q, parked)
  local deadline = string.format('%.1f', q.ms + FIRST_LEASE_MS + 0.5)
  for first = 1, #parked, 2 * CHUNK do
    local last, deadlines = math.min(first + 2 * CHUNK - 1, #parked), {}
    redis.call('HSET', q.off, unpack(parked, first, last))
    for place = first, last, 2 do
      deadlines[#deadlines + 1] = deadline
      deadlines[#deadlines + 1] = parked[place]
    end
    redis.call('ZADD', q.away, unpack(deadlines))
  end
end
local function trim_dead(q)
  local excess = redis.call('ZCARD', q.dead) - q.keep_dead
  if excess <= 0 then return end
  local gone = redis.call('ZRANGE', q.dead, 0, math.min(excess, 100) - 1)
  local fields = {}
  for _, number in ipairs(gone) do
    fields[#fields + 1] = number
    fields[#fields + 1] = 'why:' .. number
  end
  redis.call('ZREM', q.dead, unpack(gone))
  redis.call('HDEL', q.letters, unpack(fields))
end
local function check_dead(q)
  checked(q.dead, redis.pcall('ZCARD', q.dead))
  checked(q.letters, redis.pcall('HLEN', q.letters))
end
local function bury(q, item, reason)
  local why = string.format('%.0f', item.attempts) .. ' ' .. reason
  redis.call('HSET', q.letters, item.id, item.body, 'why:' .. item.id, why)
  redis.call('ZADD', q.dead, string.format('%.0f', q.ms), item.id)
  trim_dead(q)
  set_outcome(q, item.id, 'dead', why)
end
local function is_last(q, attempts)
  return q.max_attempts > 0 and attempts >= q.max_attempts
end
local function recall(q, handles)
  if #handles == 0 then return {} end
  local recalled, bodies = {}, redis.call('HMGET', q.off, unpack(handles))
  redis.call('HDEL', q.off, unpack(handles))
  redis.call('ZREM', q.away, unpack(handles))
  for place, handle in ipairs(handles) do
    local _, number, attempt, process, lane = string.match(handle, HANDLE)
    recalled[place] = bodies[place] and number and {
      handle = handle, id = id_of(number, lane), number = number, attempts = tonumber(attempt), process = process, lane = lane,
      body = bodies[place],
    } or false
  end
  return recalled
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
local MOST_SKIPPED = 2000
local MOST_BYTES = 262144
local STEP = 16
local function change(q, name)
  local rec = rec_of(q, name)
  if not rec then
    rec = setmetatable({
      name = name, next = digits(next_number(q)), out = '-', out_count = 0, state = '-', seen = '0', mean = '0',
    }, DEFAULTS)
    q.recs[name] = rec
  end
  if not rec.changed then
    rec.changed = true
    q.changed[#q.changed + 1] = rec
  end
  return rec
end
local function add_later(q, member, ms)
  redis.call('ZADD', q.later, string.format('%.0f', ms), member)
  if not q.later_ms or ms < q.later_ms then q.later_ms, q.is_sooner = ms, true end
end
local function look_later(q, rec, ms)
  add_later(q, 'park:' .. rec.name, ms)
end
local function rate_allows_at(q, rec)
  if q.rate == 0 or rec.tat == 0 then return 0 end
  if rec.tat > q.us + q.rate_us + q.rate_us / q.rate then rec.tat = q.us end
  local at = rec.tat - q.rate_us + q.rate_us / q.rate
  return at > q.us and at or 0
end
local function arrange(q, rec)
  if rec.state == 'R' or rec.paused or rec.till > 0 then return false end
  if rec.out_count >= (rec.limit > 0 and rec.limit or q.in_flight) then return false end
  if rec.returned == 0 and length_of(q, rec) == 0 then
    if rec.seen == '0' then return false end
    rec.seen = '0'
    return true
  end
  local at = rate_allows_at(q, rec)
  if at > 0 then
    rec.till, rec.is_long = math.ceil(at / 1000), true
    look_later(q, rec, rec.till)
  else
    rec.state = 'R'
    q.ready_names[#q.ready_names + 1] = rec.name
  end
  return true
end
local function is_over(q, rec)
  if rec.state == 'R' or rec.out_count > 0 or rec.returned > 0 or rec.later > 0 or rec.paused or rec.limit > 0 or rec.till > 0 then
    return false
  end
  if length_of(q, rec) > 0 then return false end
  if rec.tat <= q.us or q.rate == 0 then return true end
  look_later(q, rec, math.ceil(rec.tat / 1000))
  return false
end
local function push_ready(q)
  for first = 1, #q.ready_names, CHUNK do
    redis.call('RPUSH', q.ready, unpack(q.ready_names, first, math.min(first + CHUNK - 1, #q.ready_names)))
  end
  q.ready_names = {}
end
local function write_recs(q)
  local writes, gone = {}, {}
  for _, rec in ipairs(q.changed) do
    if is_over(q, rec) then
      q.last = math.max(q.last, tonumber(rec.next) - 1)
      gone[#gone + 1] = rec.name
    else
      writes[#writes + 1] = rec.name
      writes[#writes + 1] = write_rec(rec)
    end
  end
  for first = 1, #writes, CHUNK do
    redis.call('HSET', q.rec, unpack(writes, first, math.min(first + CHUNK - 1, #writes)))
  end
  for first = 1, #gone, CHUNK do
    redis.call('HDEL', q.rec, unpack(gone, first, math.min(first + CHUNK - 1, #gone)))
  end
  if #gone > 0 and q.waiting ~= 0 and redis.call('EXISTS', q.rec) == 0 then q.waiting = 0 end
end
local function advance(q, rec, count)
  rec.next, q.waiting = digits(tonumber(rec.next) + count), q.waiting - count
  if rec.length then rec.length = rec.length - count end
end
local function skip_cancelled(q, rec)
  while rec.cancelled > 0 do
    local from, upto = '[' .. rec.name .. ' ' .. rec.next, '(' .. rec.name .. '!'
    local found = redis.call('ZRANGEBYLEX', q.cancelled, from, upto, 'LIMIT', 0, 1)
    if not found[1] then
      rec.cancelled = 0
    elseif found[1] ~= rec.name .. ' ' .. rec.next then
      return true
    elseif q.skipped >= MOST_SKIPPED then
      return false
    else
      found = redis.call('ZRANGEBYLEX', q.cancelled, from, upto, 'LIMIT', 0, 500)
      local run, first = 1, tonumber(rec.next)
      while found[run + 1] == rec.name .. ' ' .. digits(first + run) do run = run + 1 end
      redis.call('LTRIM', list_key(q, rec.name), run, -1)
      redis.call('ZREM', q.cancelled, unpack(found, 1, run))
      advance(q, rec, run)
      rec.cancelled, q.skipped = math.max(0, rec.cancelled - run), q.skipped + run
    end
  end
  return true
end
local function pop_returned(q, rec)
  while rec.returned > 0 do
    local member = redis.call('ZRANGEBYLEX', q.again, '[r ' .. rec.name .. ' ', '(r ' .. rec.name .. '!', 'LIMIT', 0, 1)[1]
    if not member then
      rec.returned = 0
      return nil
    end
    local number, attempts = string.match(member, ' (%d+) (%d+)$')
    local field = 'back:' .. number .. ':' .. rec.name
    local body = redis.call('HGET', q.off, field)
    redis.call('ZREM', q.again, member)
    redis.call('HDEL', q.off, field)
    rec.returned = rec.returned - 1
    if body then return number, tonumber(attempts), body end
  end
  return nil
end
local function note_delivery(q, rec, number)
  rec.out = rec.out == '-' and number or rec.out .. ',' .. number
  rec.out_count = rec.out_count + 1
  if rec.seen ~= '0' then
    local gap, mean = q.us - tonumber(rec.seen), tonumber(rec.mean)
    if gap >= 0 then rec.mean = string.format('%.0f', math.max(1, mean == 0 and gap or mean + (gap - mean) / 8)) end
  end
  q.us_text = q.us_text or digits(q.us)
  rec.seen = q.us_text
  if q.rate > 0 then rec.tat, rec.is_long = math.ceil(math.max(rec.tat, q.us) + q.rate_us / q.rate), true end
end
local function serve(q, rec)
  if rec.paused or rec.till > 0 or rec.out_count >= (rec.limit > 0 and rec.limit or q.in_flight) then return nil end
  if rate_allows_at(q, rec) > 0 then return nil end
  local number, attempts, body = pop_returned(q, rec)
  if not number then
    if not skip_cancelled(q, rec) then
      q.is_weary = true
      return nil
    end
    body = redis.call('LPOP', list_key(q, rec.name))
    if not body then
      rec.length = 0
      return nil
    end
    number, attempts = rec.next, 0
    advance(q, rec, 1)
  end
  note_delivery(q, rec, number)
  return { number = number, attempts = attempts, body = body, lane = rec.name }
end
local function take_next(q, count)
  push_ready(q)
  local served, names, at, is_last, bytes = {}, {}, 1, false, 0
  while #served < count and not q.is_weary do
    if names[at] then
      local rec = change(q, names[at])
      at = at + 1
      rec.state = '-'
      local item = serve(q, rec)
      if item then
        served[#served + 1] = item
        bytes = bytes + #item.body
        if bytes > MOST_BYTES then q.is_weary = true end
      end
      arrange(q, rec)
    elseif is_last then
      names, at, q.ready_names = q.ready_names, 1, {}
      if not names[1] then break end
    else
      names, at = redis.call('LPOP', q.ready, count - #served) or {}, 1
      is_last = #names < count - #served
      load_recs(q, names)
    end
  end
  if names[at] then
    for _, name in ipairs(q.ready_names) do names[#names + 1] = name end
    q.ready_names = { unpack(names, at) }
  end
  return served
end
local function drop_out(rec, number)
  if rec.out == number then
    rec.out, rec.out_count = '-', 0
    return
  end
  local from = string.find(rec.out, number, 1, true)
  if not from then return end
  rec.out = string.gsub(string.sub(rec.out, 1, from - 1) .. string.sub(rec.out, from + 17), ',$', '')
  rec.out_count = rec.out_count - 1
end
local function put_back(q, rec, item, delay_ms)
  local field, kind = 'back:' .. item.number .. ':' .. rec.name, 'r'
  redis.call('HSET', q.off, field, item.body)
  rec.is_long = true
  if delay_ms > 0 then
    local due_ms = math.ceil(q.ms + delay_ms)
    if q.when_failed == 's' then
      kind = 'w'
      add_later(q, field, due_ms)
    else
      rec.till = math.max(rec.till, due_ms)
      look_later(q, rec, rec.till)
    end
  end
  redis.call('ZADD', q.again, 0, string.format('%s %s %s %.0f', kind, rec.name, item.number, item.attempts))
  if kind == 'w' then rec.later = rec.later + 1 else rec.returned = rec.returned + 1 end
end
local function give_back(q, item, delay_ms, reason, is_failure)
  local rec = change(q, item.lane)
  drop_out(rec, item.number)
  if reason and (is_last(q, item.attempts) or (is_failure and q.when_failed == 'd')) then
    bury(q, item, reason)
  else
    if not reason then item.attempts = item.attempts - 1 end
    put_back(q, rec, item, delay_ms)
  end
  arrange(q, rec)
end
local function unpark(q, name)
  if not rec_of(q, name) and redis.call('LLEN', list_key(q, name)) == 0 then return end
  local rec = change(q, name)
  rec.till = 0
  arrange(q, rec)
end
local function release(q, number, lane)
  local from = lane .. ' ' .. number
  local found = redis.call('ZRANGEBYLEX', q.again, '[w ' .. from .. ' ', '(w ' .. from .. '!', 'LIMIT', 0, 1)[1]
  if not found then return false end
  redis.call('ZREM', q.again, found)
  redis.call('ZADD', q.again, 0, 'r' .. string.sub(found, 2))
  local rec = change(q, lane)
  rec.later, rec.returned = math.max(0, rec.later - 1), rec.returned + 1
  arrange(q, rec)
  return true
end
local function release_due(q)
  local due, count = redis.call('ZRANGE', q.later, '-inf', string.format('%.0f', q.ms), 'BYSCORE', 'LIMIT', 0, STEP), 0
  if #due > 0 then redis.call('ZREM', q.later, unpack(due)) end
  for _, member in ipairs(due) do
    local number, lane = string.match(member, '^back:(%d+):(.+)$')
    if number then
      if release(q, number, lane) then count = count + 1 end
    else
      unpark(q, string.sub(member, 6))
    end
  end
  local next_ms = first_ms(q.later)
  q.later_ms = next_ms
  return count
end
local function has_more(q)
  return #q.ready_names > 0 or redis.call('LLEN', q.ready) > 0
end
local function close_lanes(q, seq, answer)
  push_ready(q)
  write_recs(q)
  q.fields = {}
  if q.waiting ~= q.waited then q.fields = { 'waiting', string.format('%.0f', math.max(0, q.waiting)) } end
  if q.settings then
    q.fields[#q.fields + 1] = 'settings'
    q.fields[#q.fields + 1] = q.settings
  end
  close(q, seq, answer)
end
local GIFTS = 64
local OVERDUE = 16
local function publish(q, process, words)
  return redis.call('PUBLISH', q.inboxes .. process, q.verb .. ' ' .. q.name .. words)
end
local function listening(q)
  while true do
    local rows, idle, names = redis.call('ZRANGE', q.idle, 0, GIFTS - 1, 'WITHSCORES'), {}, {}
    for place = 1, #rows, 2 do
      idle[#idle + 1] = { process = rows[place], room = -tonumber(rows[place + 1]) }
      names[#names + 1] = q.inboxes .. rows[place]
    end
    if #idle == 0 or not q.is_sure then return idle end
    local counts, live = redis.call('PUBSUB', 'NUMSUB', unpack(names)), {}
    for place, one in ipairs(idle) do
      if counts[2 * place] > 0 then live[#live + 1] = one else redis.call('ZREM', q.idle, one.process) end
    end
    if #live > 0 then return live end
  end
end
local function tell_all(q)
  for _, process in ipairs(redis.call('ZRANGE', q.idle, 0, -1)) do publish(q, process, '') end
  redis.call('DEL', q.idle)
end
local function tell_one(q)
  local idle = listening(q)
  if idle[1] then publish(q, idle[1].process, '') end
end
local function roomiest(idle)
  local most = idle[1]
  for place = 2, #idle do
    if idle[place].room > most.room then most = idle[place] end
  end
  return most
end
local function deal(q)
  if q.paused or not has_more(q) then return end
  local idle, room = listening(q), 0
  if #idle == 0 then return end
  for _, one in ipairs(idle) do room = room + one.room end
  local parked, items = {}, take_next(q, math.min(room, GIFTS))
  for _, item in ipairs(items) do
    local one = roomiest(idle)
    one.room, one.is_changed = one.room - 1, true
    publish(q, one.process, ' ' .. deliver(q, parked, item, one.process) .. ' ' .. item.body)
  end
  park(q, parked)
  for _, one in ipairs(idle) do
    if one.room == 0 then
      redis.call('ZREM', q.idle, one.process)
    elseif one.is_changed then
      redis.call('ZADD', q.idle, -one.room, one.process)
    end
  end
  if has_more(q) and redis.call('ZCARD', q.idle) > 0 then tell_all(q) end
end
local function return_overdue(q)
  local rows = redis.call('ZRANGE', q.away, '-inf', string.format('%.1f', q.ms), 'BYSCORE', 'LIMIT', 0, OVERDUE, 'WITHSCORES')
  local handles, count = {}, 0
  for place = 1, #rows, 2 do handles[#handles + 1] = rows[place] end
  for place, item in ipairs(recall(q, handles)) do
    if item then
      if tonumber(rows[2 * place]) % 1 > 0 then redis.call('ZREM', q.idle, item.process) end
      give_back(q, item, 0, 'its deadline passed')
      count = count + 1
    end
  end
  return count
end
local function return_due(q)
  local count = 0
  if q.away_ms and q.away_ms <= q.ms then count = count + return_overdue(q) end
  if q.later_ms and q.later_ms <= q.ms then count = count + release_due(q) end
  if count > 0 then
    q.away_ms = tonumber(redis.call('ZRANGE', q.away, 0, 0, 'WITHSCORES')[2])
    q.later_ms = tonumber(redis.call('ZRANGE', q.later, 0, 0, 'WITHSCORES')[2])
  end
  return count
end
local function due_in(q)
  local due_ms = math.min(q.away_ms or math.huge, q.later_ms or math.huge, q.recheck_ms or math.huge)
  return due_ms == math.huge and -1 or math.max(0, math.ceil(due_ms - q.ms))
end
local q = {
  about = KEYS[1], rec = KEYS[2], ready = KEYS[3], off = KEYS[4], away = KEYS[5], idle = KEYS[6], later = KEYS[7], again = KEYS[8],
  cancelled = KEYS[9],
}
open_lanes(q, '', '')
local function drop_again(kind, name)
  local from = kind .. ' ' .. name
  local members = redis.call('ZRANGEBYLEX', q.again, '[' .. from .. ' ', '(' .. from .. '!')
  for _, member in ipairs(members) do
    local field = 'back:' .. string.match(member, ' (%d+) %d+$') .. ':' .. name
    redis.call('HDEL', q.off, field)
    redis.call('ZREM', q.later, field)
  end
  redis.call('ZREMRANGEBYLEX', q.again, '[' .. from .. ' ', '(' .. from .. '!')
  return #members
end
local function drain(rec)
  local length = length_of(q, rec)
  local count = length - rec.cancelled
  redis.call('UNLINK', list_key(q, rec.name))
  if rec.cancelled > 0 then redis.call('ZREMRANGEBYLEX', q.cancelled, '[' .. rec.name .. ' ', '(' .. rec.name .. '!') end
  if rec.returned > 0 then count = count + drop_again('r', rec.name) end
  if rec.later > 0 then count = count + drop_again('w', rec.name) end
  advance(q, rec, length)
  rec.cancelled, rec.returned, rec.later = 0, 0, 0
  if rec.till > 0 then
    rec.till = 0
    redis.call('ZREM', q.later, 'park:' .. rec.name)
  end
  if rec.state == 'R' and rec.out_count == 0 and redis.call('LREM', q.ready, 1, rec.name) == 1 then rec.state = '-' end
  return count
end
local turns, names, count = tonumber(ARGV[1]), { unpack(ARGV, 2) }, 0
if turns > 0 then names = redis.call('LPOP', q.ready, turns) or {} end
load_recs(q, names)
for _, name in ipairs(names) do
  if rec_of(q, name) then
    local rec = change(q, name)
    if turns > 0 then rec.state = '-' end
    count = count + drain(rec)
  end
end
close_lanes(q)
return { count, #names }
`,
};
