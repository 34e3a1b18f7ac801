--[[
What a queue, or the lanes of a name, remember of themselves. A script makes one table `q` with its keys and the
words of its caller; open() adds the rest. Whoever changes something ends with close().

q.about  hash
    last           the largest number or token that was given out, 16 digits. Numbers of messages and tokens of deliveries are one
                   sequence, which follows the clock in µs, so that it rises also where `last` was lost. Exact below 2^53
    skew           µs that are added to the server's clock, because it was set back: for deadlines and numbers, time goes on
    order          "fifo" or "lifo", of a queue
    paused         1: nothing is taken or dealt
    looked         ms: the last look for dead processes
    stuck          see _stuck.lua
    suspects       see _suspects.lua
    slow           see _heard.lua
    gone           processes without a listener: "<processId>:<us since when> …"
    scan           how far the deliveries of processes that are gone have been put back, see _gone.lua
    did:<memory>   the last requests of a caller, so that a copy has the answer of the first: "<number> <forgotten> <seq>=<answer> …".
                   number: `last` when the caller came. forgotten: the largest seq whose answer is no longer here
]]
--- @include "../../redis/lua/_clock.lua"
--- @include "_last.lua"
local MEMORY = 4
local MEMORY_US = 300000000
-- %.0f because %d stops at 2^31 where long has 32 bits.
local function digits(number)
  return string.format('%016.0f', number)
end

-- Reads `about`, and q.reach as _deliveries.lua says. memory: of the caller; '' for a script without one. more: fields that this script needs besides, in q.more.
local function open(q, memory, more)
  local us = tonumber(read_clock())
  q.did = 'did:' .. memory
  local about = checked(q.about,
    redis.pcall('HMGET', q.about, 'last', 'skew', 'order', 'paused', q.did, 'suspects', 'slow', unpack(more or {})))
  q.last, q.skew = read_last(q.about, about[1]), tonumber(about[2] or '0') or 0
  q.had, q.order, q.paused, q.memory = q.last, about[3], about[4], about[5]
  q.suspected, q.slow = about[6], about[7]
  if more then q.more = { unpack(about, 8) } end
  -- The sequence runs ahead of the clock by 1 µs a number: so far ahead it runs only where the clock was set back.
  if us + q.skew + 1000000 < q.last then
    q.skew, q.is_skewed = q.last - us, true
  end
  q.us = us + q.skew
  if q.reach then q.is_sure, q.first_lease_ms = string.byte(q.reach) == 49, tonumber(string.sub(q.reach, 3)) end
  q.ms = math.floor(q.us / 1000)
  if q.us > LARGEST then error({ err = 'ERR the numbers of this queue are used up: reset it' }) end
end

local function next_number(q)
  local number = q.last + 1
  if q.us > number then number = q.us end
  q.last = number
  return number
end

-- The answer to the first copy of this request; nil: this is the first. Second: true where the answer is forgotten.
local function remembered(q, seq)
  if not q.memory then return nil end
  local _, at = string.find(q.memory, ' ' .. seq .. '=', 1, true)
  if at then return string.match(q.memory, '^%S*', at + 1) end
  return nil, tonumber(seq) <= tonumber(string.match(q.memory, '^%d+ (%d+)') or '0')
end

-- What the memory of the caller is with one more answer. Answers to requests that are MEMORY older leave it.
local function add_answer(q, seq, answer, last)
  local entry = ' ' .. seq .. '=' .. answer
  if not q.memory then return last .. ' 0' .. entry end
  local forgotten, oldest, rest = string.match(q.memory, '^%d+ (%d+) (%d+)=%S*(.*)$')
  -- All else is written by now: what cannot be read must not undo it.
  if not oldest then return last .. ' 0' .. entry end
  local least = tonumber(seq) - MEMORY
  if tonumber(oldest) > least then return last .. string.sub(q.memory, 17) .. entry end
  while oldest and tonumber(oldest) <= least do
    if tonumber(oldest) > tonumber(forgotten) then forgotten = oldest end
    q.memory = rest
    oldest, rest = string.match(rest, '^ (%d+)=%S*(.*)$')
  end
  return last .. ' ' .. forgotten .. q.memory .. entry
end

-- At its maxmemory a server refuses a script at its first write, and only where that write is of a command that can take memory. A
-- script that must go on there, because others make room by it or lose their deliveries without it, begins with one that cannot.
local function go_on_at_maxmemory(q)
  redis.call('HDEL', q.about, 'never there')
end

-- A few callers are looked at, so that those of the dead do not pile up.
local function tidy_memory(q)
  local fields = redis.call('HRANDFIELD', q.about, 3, 'WITHVALUES')
  for place = 1, #fields, 2 do
    local is_memory = string.sub(fields[place], 1, 4) == 'did:'
    if is_memory and (tonumber(string.sub(fields[place + 1], 1, 16)) or 0) < q.us - MEMORY_US then
      redis.call('HDEL', q.about, fields[place])
    end
  end
end

-- A queue keeps the order of its first use. Returns the order that it has, where that is another. order: '' for whatever it has.
local function other_order(q, order)
  if order == '' then
    q.order = q.order or 'fifo'
    return nil
  end
  if q.order and q.order ~= order then return q.order end
  q.is_new, q.order = not q.order, order
  return nil
end

-- Writes what has changed, and q.fields. answer: nil for a request that changed nothing, a copy of which does no harm.
local function close(q, seq, answer)
  if not (answer or q.is_skewed or q.is_new or q.is_suspected or q.is_slow_changed or q.fields) and q.last == q.had then return end
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
  if q.is_suspected then
    local words = {}
    for id, one in pairs(q.suspects) do words[#words + 1] = id .. ' ' .. one.crashes .. ' ' .. one.where end
    table.sort(words)
    if not words[1] then redis.call('HDEL', q.about, 'suspects')
    else
      fields[#fields + 1] = 'suspects'
      fields[#fields + 1] = table.concat(words, ' ')
    end
  end
  if q.is_slow_changed and q.slow == '' then redis.call('HDEL', q.about, 'slow')
  elseif q.is_slow_changed then
    fields[#fields + 1] = 'slow'
    fields[#fields + 1] = q.slow
  end
  for _, word in ipairs(q.fields or {}) do fields[#fields + 1] = word end
  redis.call('HSET', q.about, unpack(fields))
  if answer and not q.memory then tidy_memory(q) end
end
