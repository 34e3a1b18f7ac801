// Generated from timed.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "queues/lua/timed",
  sha1: "921e00f764966cb57b00810e2b9a5abb57b0166b",
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
local q = { about = KEYS[1], off = KEYS[2], timed = KEYS[3] }
local count = tonumber(ARGV[1])
local MOST = 1048576
open(q, '')
checked(q.off, redis.pcall('HLEN', q.off))
local seen, bytes = {}, 0
local rows = checked(q.timed, redis.pcall('ZRANGE', q.timed, 0, count - 1, 'WITHSCORES'))
for place = 1, #rows, 2 do
  local body = redis.call('HGET', q.off, rows[place])
  if body then
    for _, word in ipairs({ rows[place], body, math.max(0, math.floor(tonumber(rows[place + 1]) - q.ms)) }) do
      seen[#seen + 1] = word
    end
    bytes = bytes + #body
    if bytes >= MOST then break end
  end
end
return seen
`,
};
