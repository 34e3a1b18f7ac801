--[[
The lanes of one name. Needs deliveries/lua/_deliveries.lua. A lane is always written percent-encoded: without blanks, colons and braces. Keys,
all in the slot of {name}, in the order of LANES_KEYS in redis/keys.ts:

about      hash  see deliveries/lua/_about.lua; and
                 settings  the last settings that a process gave: see read_settings
                 waiting   bodies in the lists of all lanes
rec        hash  lane -> its record, see parse_rec. A lane without a record is empty
ready      list  lanes that can be served, in the order of their turns. Each is in it at most once: its record says so
off        hash  see deliveries/lua/_deliveries.lua; also `back:<number>:<lane>` -> body of a message that came back
away       zset  see deliveries/lua/_deliveries.lua
idle       zset  see deliveries/lua/_deliveries.lua
later      zset  `back:<number>:<lane>` -> ms when a message that came back may be delivered
                 `park:<lane>` -> ms when the lane is looked at again
again      zset  score 0. `r <lane> <number> <attempts, see deliveries/lua/_handle.lua>`: came back, and is the next of its lane; of several the lowest number
                 `w <lane> <number> <attempts>`: came back, and waits for its time while the lane goes on
cancelled  zset  score 0. `<lane> <number>`: cancelled in the list, where its body stays until its turn comes
held       set   lanes that somebody paused
dead       zset  see deliveries/lua/_deliveries.lua
letters    hash  see deliveries/lua/_deliveries.lua

<about>:lane:<lane>  list  the bodies that wait. Their numbers are consecutive, and the first is `next` of the record

Numbers have 16 digits: as text they sort as numbers do. The id of a message is its ticket, `<number>@<lane>`.
]]
--- @include "_rec.lua"
-- Cancelled messages that one script passes over in all lanes.
local MOST_SKIPPED = 2000

-- What a lane had whose record was lost, and what came back of it alone.
local function recount(q, rec)
  rec.returned = redis.call('ZLEXCOUNT', q.again, '[r ' .. rec.name .. ' ', '(r ' .. rec.name .. '!')
  rec.later = redis.call('ZLEXCOUNT', q.again, '[w ' .. rec.name .. ' ', '(w ' .. rec.name .. '!')
  rec.is_long = true
end

-- The record, which the caller will change; a new one where the lane has none.
local function change(q, name)
  local rec = rec_of(q, name)
  if not rec then
    rec = setmetatable({
      name = name, next = digits(next_number(q)), out = '-', out_count = 0, state = '-', seen = '0', mean = '0',
    }, DEFAULTS)
    if q.counts.again ~= 0 then recount(q, rec) end
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

-- Parks the lane until a time, or looks at it then, where it is not held up.
local function look_later(q, rec, ms)
  add_later(q, 'park:' .. rec.name, ms)
end

-- The time at which the rate of the lane allows the next delivery, us; 0: now.
local function rate_allows_at(q, rec)
  if q.rate == 0 or rec.tat == 0 then return 0 end
  -- No time of arrival can be later than this, unless the rate was slower, or `last` was lost and the clock was set back.
  if rec.tat > q.us + q.rate_us + q.rate_us / q.rate then rec.tat = q.us end
  local at = rec.tat - q.rate_us + q.rate_us / q.rate
  return at > q.us and at or 0
end

-- Gives the lane a turn, parks it, or leaves it alone. Called after whatever may have changed that. Returns whether the record changed.
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

-- Writes what has changed, and lets empty lanes go. A lane that comes back begins above its last number.
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
  -- Where `about` was lost, the count begins again with the next message.
  if #gone > 0 and q.waiting ~= 0 and redis.call('EXISTS', q.rec) == 0 then q.waiting = 0 end
end

local function advance(q, rec, count)
  rec.next, q.waiting = digits(tonumber(rec.next) + count), q.waiting - count
  if rec.length then rec.length = rec.length - count end
end

-- Passes over cancelled messages at the head of the list. False: there are more of them than one script passes over.
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
      of_list(redis.pcall('LTRIM', list_key(q, rec.name), run, -1))
      redis.call('ZREM', q.cancelled, unpack(found, 1, run))
      advance(q, rec, run)
      rec.cancelled, q.skipped = math.max(0, rec.cancelled - run), q.skipped + run
    end
  end
  return true
end

-- The first of those that came back.
local function pop_returned(q, rec)
  while rec.returned > 0 do
    local member = redis.call('ZRANGEBYLEX', q.again, '[r ' .. rec.name .. ' ', '(r ' .. rec.name .. '!', 'LIMIT', 0, 1)[1]
    if not member then
      rec.returned = 0
      return nil
    end
    local number, text = string.match(member, ' (%d+) (%d+!?)$')
    local field = 'back:' .. number .. ':' .. rec.name
    local body = redis.call('HGET', q.off, field)
    redis.call('ZREM', q.again, member)
    redis.call('HDEL', q.off, field)
    rec.returned = rec.returned - 1
    if body then
      local attempts, is_unsure = read_attempts(text)
      return { number = number, attempts = attempts, is_unsure = is_unsure, body = body, lane = rec.name }
    end
  end
  return nil
end

-- What a delivery changes in its record.
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

-- The next message of a lane whose turn it is. Nil: it has none, or may not be served.
local function serve(q, rec)
  if rec.paused or rec.till > 0 or rec.out_count >= (rec.limit > 0 and rec.limit or q.in_flight) then return nil end
  if rate_allows_at(q, rec) > 0 then return nil end
  local item = pop_returned(q, rec)
  if not item then
    if not skip_cancelled(q, rec) then
      q.is_weary = true
      return nil
    end
    local body = of_list(redis.pcall('LPOP', list_key(q, rec.name)))
    if not body then
      rec.length = 0
      return nil
    end
    item = { number = rec.next, attempts = 0, body = body, lane = rec.name }
    advance(q, rec, 1)
  end
  item.is_served = true
  note_delivery(q, rec, item.number)
  return item
end

--[[
At most `count` messages of the lanes whose turn it is. A lane goes to the end of `ready` after each, so that no lane has two before another
has one.
]]
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
      -- The list in Redis is empty, so its end is here.
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

-- A delivery is over. One that serve() began in this script, and that nobody has heard of, does not count for the rate.
local function end_delivery(q, rec, item)
  drop_out(rec, item.number)
  if item.is_served and q.rate > 0 then rec.tat = math.ceil(rec.tat - q.rate_us / q.rate) end
end

-- Keeps a message that came back, whose delivery is over.
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
  redis.call('ZADD', q.again, 0, kind .. ' ' .. rec.name .. ' ' .. item.number .. ' ' .. attempts_text(item))
  if kind == 'w' then rec.later = rec.later + 1 else rec.returned = rec.returned + 1 end
end

-- What recall() returned. reason: nil where it was no attempt. is_failure: a handler failed; else the deadline passed or the process is gone.
local function give_back(q, item, delay_ms, reason, is_failure)
  local rec = change(q, item.lane)
  end_delivery(q, rec, item)
  if reason and (item.is_dead or is_last(q, item.attempts) or is_failure and q.when_failed == 'd') then
    bury(q, item, reason)
  else
    if not reason then item.attempts = item.attempts - 1 end
    put_back(q, rec, item, delay_ms)
  end
  arrange(q, rec)
end

local function hold_back(q, item)
  local rec = change(q, item.lane)
  end_delivery(q, rec, item)
  put_back(q, rec, item, 0)
  -- No handler failed, so that the lane keeps its order, whatever it does after a failure.
  rec.till = math.max(rec.till, math.ceil(q.ms + HELD_BACK_MS))
  look_later(q, rec, rec.till)
  hold_suspect(q, id_of(item.number, item.lane), 'park:' .. item.lane)
end

local function unpark(q, name)
  -- The record may have been lost, and not the list.
  if not rec_of(q, name) and (of_list(redis.pcall('LLEN', list_key(q, name))) or 0) == 0 then return end
  local rec = change(q, name)
  rec.till = 0
  arrange(q, rec)
end

-- A message that came back may be delivered now. Returns whether there is such a message.
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

-- What is due: the end of a pause of a lane, and messages that may be delivered again. Returns the number of messages.
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

-- The end of every script that changes something.
local function close_lanes(q, seq, answer)
  push_ready(q)
  write_recs(q)
  local fields = {}
  if q.waiting ~= q.waited then fields = { 'waiting', string.format('%.0f', math.max(0, q.waiting)) } end
  if q.settings then
    fields[#fields + 1] = 'settings'
    fields[#fields + 1] = q.settings
  end
  q.fields = fields[1] and fields
  close(q, seq, answer)
end
