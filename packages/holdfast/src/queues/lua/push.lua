--[[
push: adds messages at the end of the line, or for later. Where a process has free places, the messages are handed to it at once.

KEYS[1..7]  about, line, off, away, idle, later, again   see _queue.lua
KEYS[8..n]  the dedupe keys of the messages that have one, in their order
ARGV[1]   name       of the queue, without blanks
ARGV[2]   inboxes    see deliveries/lua/_deliveries.lua
ARGV[3]   reach      see deliveries/lua/_deliveries.lua
ARGV[4]   order      "fifo", "lifo", or '' for whatever it has
ARGV[5]   memory     of the caller, see deliveries/lua/_about.lua
ARGV[6]   seq        integer, see deliveries/lua/_about.lua
ARGV[7]   limit      integer: most messages that wait, are delayed or in flight; 0: no bound
ARGV[8]   when_full  "refuse", or "drop": deletes the oldest that wait
ARGV[9]   is_whole   0 or 1  1: where some find no room, none is pushed; else the first ones are
ARGV[10]  kind       "plain": bodies follow; "each": of each message delay in ms, ms for which its dedupe id is kept or 0, and body
ARGV[11..n] messages

Returns  "first/pushed/dropped/length/known"  first: the number of the first new message, '' if none is new; the other new ones
                    follow it by 1 each, in their order. pushed: the messages before the first one without room; behind it, all are
                    without that are not known. dropped: those that were deleted. length: afterwards, where the queue has a limit,
                    else 0. known: those that are not new: "<place from 0>=<number of the first with its dedupe id>", with commas
         {'order', order}  the queue has another order; nothing was changed
         {'forgotten'}     a copy of a request whose answer is no longer known; nothing was changed
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    a second copy pushes nothing, and returns the same
Clock    the server's, read once
Cost     O(n log m) with n the messages, and m the deliveries of all processes. 8 commands for one that is handed over, 5 for any
         number of plain ones that wait
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../redis/lua/_message.lua"
--- @include "../../redis/lua/_listens.lua"
--- @include "../../redis/lua/_rights.lua"
--- @include "../../deliveries/lua/_lease.lua"
--- @include "../../deliveries/lua/_gift.lua"
--- @include "../../deliveries/lua/_heard.lua"
local q = {
  about = KEYS[1], line = KEYS[2], off = KEYS[3], away = KEYS[4], idle = KEYS[5], later = KEYS[6], again = KEYS[7],
  verb = 'queue', name = ARGV[1], inboxes = ARGV[2], reach = ARGV[3],
}
local order, memory, seq, limit, drops = ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8] == 'drop'
local is_whole, kind = ARGV[9] == '1', ARGV[10]
local first_message = 11
open(q, memory)
local answer, is_forgotten = remembered(q, seq)
if answer then return answer end
if is_forgotten then return { 'forgotten' } end
local other = other_order(q, order)
if other then return { 'order', other } end
local is_plain = kind == 'plain' and limit == 0
local idle = checked(q.idle, redis.pcall('ZRANGE', q.idle, 0, 0, 'WITHSCORES'))

-- Two short paths for most pushes, before the functions of the others are made: making them costs as much as pushing.
if is_plain and (not idle[1] or q.paused) then
  --- @rights q.about
  local line, at = {}, 0
  q.last = next_number(q) - 1
  for place = first_message, #ARGV do
    q.last = q.last + 1
    line[at + 1], line[at + 2], at = digits(q.last), ARGV[place], at + 2
  end
  checked(q.line, redis.pcall('RPUSH', q.line, unpack(line)))
  answer = line[1] .. '/' .. #ARGV - first_message + 1 .. '/0/0/'
  close(q, seq, answer)
  return answer
end
local heard_us = is_plain and #ARGV == first_message and not q.slow and heard_of(q, { idle[1] })[1]
local inbox = idle[1] and q.inboxes .. idle[1]
if heard_us and heard_us + LATELY_US >= q.us and (not q.is_sure or listens(inbox)) then
  --- @rights q.about
  local number, token, body = digits(next_number(q)), digits(next_number(q)), ARGV[first_message]
  local process = idle[1]
  local handle = token .. ':' .. number .. ':1:' .. process
  checked(q.off, redis.pcall('HSET', q.off, handle, body))
  local parked = redis.pcall('ZADD', q.away, first_deadline(q), handle)
  if type(parked) == 'table' then
    redis.call('HDEL', q.off, handle)
    checked(q.away, parked)
  end
  local _, is_refused = send(inbox, '', 'queue ' .. q.name .. gift(handle, body))
  if not is_refused then
    if idle[2] == '-1' then redis.call('ZREM', q.idle, process)
    else redis.call('ZADD', q.idle, tonumber(idle[2]) + 1, process) end
    answer = number .. '/1/0/0/'
    close(q, seq, answer)
    return answer
  end
  -- This user may not tell it, and so it has not heard: the long way below goes on as if nothing had been done here.
  redis.call('HDEL', q.off, handle)
  redis.call('ZREM', q.away, handle)
end

--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_queue.lua"
--- @include "../../deliveries/lua/_deal.lua"
local messages = {}

-- known: the number of an earlier message with its dedupe id.
local function read_messages()
  local key = 8
  local step = kind == 'plain' and 1 or 3
  for place = first_message, #ARGV, step do
    local message = { body = ARGV[place + step - 1], delay_ms = 0 }
    if step == 3 then
      message.delay_ms = tonumber(ARGV[place])
      if ARGV[place + 1] ~= '0' then
        message.dedupe, message.keep_ms = KEYS[key], ARGV[place + 1]
        message.known = checked(message.dedupe, redis.pcall('GET', message.dedupe))
        key = key + 1
      end
    end
    messages[#messages + 1] = message
  end
end

local length, waiting, line, dropped, owed = 0, 0, {}, 0, 0

-- Whether there is room for so many more: the oldest that wait make it, also those of this script, as if each were pushed alone.
local function make_room(count)
  local excess = (limit == 0 or count == 0) and 0 or length + count - limit
  if excess > 0 then
    local missing = math.max(excess - waiting, 0)
    if not drops or missing > 0 and missing > redis.call('ZCARD', q.later) then return false end
    if missing > 0 then
      local rows = redis.call('ZPOPMIN', q.later, missing)
      for place = 1, #rows, 2 do redis.call('HDEL', q.off, rows[place]) end
    end
    -- drop_owed() deletes what is in line, or came back, all at once.
    owed, waiting, length, dropped = owed + excess - missing, waiting - excess + missing, length - excess, dropped + excess
  end
  length = length + count
  return true
end

-- Deletes what make_room() has counted on: what came back, the line, and the first of this script. Returns the place of the first in `line`.
local function drop_owed()
  local returned = math.min(owed, q.returned)
  if returned > 0 then
    local rows = redis.call('ZPOPMIN', q.again, returned)
    for place = 1, #rows, 2 do redis.call('HDEL', q.off, rows[place]) end
  end
  local in_line = math.min(owed - returned, q.in_line)
  if in_line > 0 then redis.call('LTRIM', q.line, 2 * in_line, -1) end
  q.returned, q.in_line = q.returned - returned, q.in_line - in_line
  return 2 * (owed - returned - in_line) + 1
end

local function count_new()
  local ids, new = {}, 0
  for _, message in ipairs(messages) do
    local id = message.dedupe or message
    if not message.known and not ids[id] then new = new + 1 end
    ids[id] = true
  end
  return new
end

read_messages()
check(q)
--- @rights q.about
length, waiting = q.in_line + q.parked, q.in_line + q.returned
local is_full = is_whole and not make_room(count_new())
local first, pushed, ids, known = nil, 0, {}, {}
for place, message in ipairs(messages) do
  local id = message.dedupe
  local number = message.known or id and ids[id]
  if number then
    known[#known + 1] = string.format('%.0f', place - 1) .. '=' .. number
  elseif not is_full and (is_whole or make_room(1)) then
    q.last = first and q.last + 1 or next_number(q)
    message.number, message.attempts = digits(q.last), 0
    first = first or message.number
    if id then
      ids[id] = message.number
      redis.call('SET', id, message.number, 'PX', message.keep_ms)
    end
    if message.delay_ms > 0 then
      put_later(q, message, q.ms + message.delay_ms)
    else
      line[#line + 1] = message.number
      line[#line + 1] = message.body
      waiting = waiting + 1
    end
  else
    -- The others find none either: nothing has made room for them.
    is_full = true
  end
  if not is_full then pushed = place end
end
local first_in_line = drop_owed()
if #line > 0 then
  if first_in_line <= #line then redis.call('RPUSH', q.line, unpack(line, first_in_line)) end
  q.in_line = q.in_line + (#line + 1 - first_in_line) / 2
  deal(q)
end
if q.is_sooner then tell_one(q) end
length = limit == 0 and 0 or q.in_line + redis.call('HLEN', q.off)
answer = string.format('%s/%.0f/%.0f/%.0f/%s', first or '', pushed, dropped, length, table.concat(known, ','))
close(q, seq, answer)
return answer
