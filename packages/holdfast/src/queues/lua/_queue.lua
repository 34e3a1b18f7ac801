--[[
The line of a queue. Needs deliveries/lua/_deliveries.lua. Keys, all in the slot of {name}, in the order of QUEUE_KEYS in redis/keys.ts:

about    hash  see deliveries/lua/_about.lua
line     list  number, body, number, body, … as they were pushed; "lifo" takes from the other end
off      hash  see deliveries/lua/_deliveries.lua; also "later:…" and "back:…", the members of `later` and `again`, -> body
away     zset  see deliveries/lua/_deliveries.lua
idle     zset  see deliveries/lua/_deliveries.lua
later    zset  later:<number>:<attempts> -> ms when it is due
again    zset  back:<number>:<attempts, see deliveries/lua/_handle.lua> -> number: came back, and is taken before the line
dead     zset  see deliveries/lua/_deliveries.lua
letters  hash  see deliveries/lua/_deliveries.lua

A number is in exactly one of: line, a handle, later, again, dead. A message that is due goes to the end of the line; one that was
delivered before goes to `again`.
]]
local SMALL = 16384

-- Raises before anything is written where another program owns a key. Reads how much there is, and when something is due.
local function check(q)
  q.parked = checked(q.off, redis.pcall('HLEN', q.off))
  q.in_line = checked(q.line, redis.pcall('LLEN', q.line)) / 2
  q.returned = checked(q.again, redis.pcall('ZCARD', q.again))
  q.idlers = checked(q.idle, redis.pcall('ZCARD', q.idle))
  q.away_ms = tonumber(checked(q.away, redis.pcall('ZRANGE', q.away, 0, 0, 'WITHSCORES'))[2])
  q.later_ms = tonumber(checked(q.later, redis.pcall('ZRANGE', q.later, 0, 0, 'WITHSCORES'))[2])
  -- Only what is overdue can become a dead letter, or what is put back.
  if q.dead and (q.may_bury or q.away_ms and q.away_ms <= q.ms) then check_dead(q) end
end

local function has_more(q)
  return q.in_line + q.returned > 0
end

local function put_back(q, item)
  local member = 'back:' .. item.number .. ':' .. attempts_text(item)
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
  if reason and (item.is_dead or is_last(q, item.attempts)) then
    bury(q, item, reason)
    return
  end
  if not reason then item.attempts = item.attempts - 1 end
  if delay_ms > 0 then
    put_later(q, item, q.ms + delay_ms)
  else
    put_back(q, item)
  end
end

local function hold_back(q, item)
  put_later(q, item, q.ms + HELD_BACK_MS)
  hold_suspect(q, item.number, 'later:' .. item.number .. ':' .. item.attempts)
end

-- Moves the members out of `off`. Returns {number, attempts, body} of each.
local function unpark(q, members)
  local items = {}
  if #members == 0 then return items end
  local bodies = redis.call('HMGET', q.off, unpack(members))
  redis.call('HDEL', q.off, unpack(members))
  for place, member in ipairs(members) do
    local number, text = string.match(member, '^%a+:(%d+):(%d+!?)$')
    if number and bodies[place] then
      local attempts, is_unsure = read_attempts(text)
      items[#items + 1] = { number = number, attempts = attempts, is_unsure = is_unsure, body = bodies[place] }
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

-- Stops before `count` where nothing waits, or after MOST_BYTES.
local function take_next(q, count)
  local items, bytes = {}, 0
  while #items < count and bytes < MOST_BYTES and has_more(q) do
    -- How large a body is becomes known when it is read. Where the first ones were small, the next ones are likely to be.
    local step = #items > 0 and bytes / #items < SMALL and math.min(count - #items, STEP) or 1
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

-- Delayed messages that are due can be taken. Returns their number.
local function release_due(q)
  local due = redis.call('ZRANGE', q.later, '-inf', string.format('%.0f', q.ms), 'BYSCORE', 'LIMIT', 0, STEP)
  if #due == 0 then return 0 end
  due = first_light(q, due)
  redis.call('ZREM', q.later, unpack(due))
  local items = unpark(q, due)
  for _, item in ipairs(items) do
    if item.attempts > 0 or suspect_of(q, item.number) then
      put_back(q, item)
    else
      redis.call('RPUSH', q.line, item.number, item.body)
      q.in_line = q.in_line + 1
    end
  end
  return #items
end
