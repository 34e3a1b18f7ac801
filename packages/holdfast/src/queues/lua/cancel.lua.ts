// Generated from cancel.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "queues/lua/cancel",
  sha1: "3858cac564a9ba81ad334df31216f5e79427b72d",
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
local STEP = 16
local MOST_BYTES = 262144
local function check(q)
  q.parked = checked(q.off, redis.pcall('HLEN', q.off))
  q.in_line = checked(q.line, redis.pcall('LLEN', q.line)) / 2
  q.returned = checked(q.again, redis.pcall('ZCARD', q.again))
  q.idlers = checked(q.idle, redis.pcall('ZCARD', q.idle))
  q.away_ms = tonumber(checked(q.away, redis.pcall('ZRANGE', q.away, 0, 0, 'WITHSCORES'))[2])
  q.later_ms = tonumber(checked(q.later, redis.pcall('ZRANGE', q.later, 0, 0, 'WITHSCORES'))[2])
  if q.dead and (q.may_bury or q.away_ms and q.away_ms <= q.ms) then check_dead(q) end
end
local function has_more(q)
  return q.in_line + q.returned > 0
end
local function put_back(q, item)
  local member = 'back:' .. item.number .. ':' .. item.attempts
  redis.call('HSET', q.off, member, item.body)
  redis.call('ZADD', q.again, item.number, member)
  q.returned = q.returned + 1
end
local function put_later(q, item, due_ms)
  local member = 'later:' .. item.number .. ':' .. item.attempts
  redis.call('HSET', q.off, member, item.body)
  redis.call('ZADD', q.later, string.format('%.0f', due_ms), member)
  if not q.later_ms or due_ms < q.later_ms then q.later_ms, q.is_sooner = due_ms, true end
end
local function give_back(q, item, delay_ms, reason)
  if reason and is_last(q, item.attempts) then
    bury(q, item, reason)
  elseif delay_ms > 0 then
    put_later(q, item, q.ms + delay_ms)
  else
    put_back(q, item)
  end
end
local function unpark(q, members)
  local items = {}
  if #members == 0 then return items end
  local bodies = redis.call('HMGET', q.off, unpack(members))
  redis.call('HDEL', q.off, unpack(members))
  for place, member in ipairs(members) do
    local number, attempts = string.match(member, '^%a+:(%d+):(%d+)$')
    if number and bodies[place] then
      items[#items + 1] = { number = number, attempts = tonumber(attempts), body = bodies[place] }
    end
  end
  return items
end
local function take_returned(q, count)
  local rows, members = redis.call(q.order == 'lifo' and 'ZPOPMAX' or 'ZPOPMIN', q.again, count), {}
  for place = 1, #rows, 2 do members[#members + 1] = rows[place] end
  q.returned = q.returned - #members
  return unpark(q, members)
end
local function take_line(q, count)
  local is_lifo, items = q.order == 'lifo', {}
  local words = redis.call(is_lifo and 'RPOP' or 'LPOP', q.line, 2 * count)
  for place = 1, #words, 2 do
    local number, body = words[place], words[place + 1]
    if is_lifo then number, body = body, number end
    items[#items + 1] = { number = number, attempts = 0, body = body }
  end
  q.in_line = q.in_line - #items
  return items
end
local function take_next(q, count)
  local items, bytes = {}, 0
  while #items < count and bytes < MOST_BYTES and has_more(q) do
    local step = math.min(count - #items, STEP)
    local some
    if q.returned > 0 then some = take_returned(q, math.min(step, q.returned))
    else some = take_line(q, math.min(step, q.in_line)) end
    for _, item in ipairs(some) do
      items[#items + 1] = item
      bytes = bytes + #item.body
    end
  end
  return items
end
local function release_due(q)
  local due = redis.call('ZRANGE', q.later, '-inf', string.format('%.0f', q.ms), 'BYSCORE', 'LIMIT', 0, STEP)
  if #due == 0 then return 0 end
  redis.call('ZREM', q.later, unpack(due))
  local items = unpark(q, due)
  for _, item in ipairs(items) do
    if item.attempts > 0 then
      put_back(q, item)
    else
      redis.call('RPUSH', q.line, item.number, item.body)
      q.in_line = q.in_line + 1
    end
  end
  return #items
end
local q = {
  about = KEYS[1], line = KEYS[2], off = KEYS[3], away = KEYS[4], idle = KEYS[5], later = KEYS[6], again = KEYS[7],
}
local outcome, results, keep_results, number = KEYS[8], ARGV[1], ARGV[2], ARGV[3]
local MOST_ATTEMPTS = 1000
local STEP_ATTEMPTS = 100
local MOST_OVERDUE = 1000
open(q, '')
local before = checked(outcome, redis.pcall('GET', outcome))
if before then return before == 'cancelled' and 1 or 0 end
check(q)
local function drop(key, member)
  redis.call('HDEL', q.off, member)
  return redis.call('ZREM', key, member)
end
local function drop_returned()
  local member = redis.call('ZRANGE', q.again, number, number, 'BYSCORE', 'LIMIT', 0, 1)[1]
  return member and drop(q.again, member) or 0
end
local function drop_delayed()
  for from = 0, MOST_ATTEMPTS - STEP_ATTEMPTS, STEP_ATTEMPTS do
    local members = {}
    for attempts = from, from + STEP_ATTEMPTS - 1 do members[#members + 1] = 'later:' .. number .. ':' .. attempts end
    for place, body in ipairs(redis.call('HMGET', q.off, unpack(members))) do
      if body then return drop(q.later, members[place]) end
    end
  end
  return 0
end
local function drop_overdue()
  if not q.away_ms or q.away_ms > q.ms then return 0 end
  local now = string.format('%.0f', q.ms)
  for _, handle in ipairs(redis.call('ZRANGE', q.away, '-inf', now, 'BYSCORE', 'LIMIT', 0, MOST_OVERDUE)) do
    local _, delivered = string.match(handle, HANDLE)
    if delivered == number then return drop(q.away, handle) end
  end
  return 0
end
local function drop_in_line()
  local place = redis.call('LPOS', q.line, number)
  if not place then return 0 end
  redis.call('LSET', q.line, place, '-')
  redis.call('LSET', q.line, place + 1, '-')
  redis.call('LREM', q.line, place < q.in_line and 2 or -2, '-')
  return 1
end
go_on_at_maxmemory(q)
local is_cancelled = drop_returned()
if is_cancelled == 0 and q.later_ms then is_cancelled = drop_delayed() end
if is_cancelled == 0 then is_cancelled = drop_overdue() end
if is_cancelled == 0 then is_cancelled = drop_in_line() end
if is_cancelled == 1 then
  redis.call('SET', outcome, 'cancelled', 'PX', keep_results)
  redis.call('PUBLISH', results .. number, 'cancelled')
end
return is_cancelled
`,
};
