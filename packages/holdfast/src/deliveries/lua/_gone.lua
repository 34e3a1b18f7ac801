--[[
Processes that are gone: nobody listened for them at two looks GONE_US apart, and they were not heard of in between, see _heard.lua. A process
whose messages come from another server, as after a failover, notices that within 2 s: ../../redis/presence.ts. What they had is put back in
steps; `scan` of _about.lua is the cursor of the next one, and "<process>:<us since when>:<id of the suspect that it had, or -> …". Needs
_due.lua, and q.more = { looked, gone, scan } of _about.lua.
]]
local LOOK_MS = 700
local GONE_US = 3000000
-- Those are first that were heard of least lately.
local MOST = 1000
local SCANNED = 1000

-- Since when each was seen without a listener, in us. A clock that was set back must not keep them. Second: whether one is due.
local function read_gone(q)
  local since, is_due = {}, false
  for process, us in string.gmatch(q.more[2] or '', '([^:%s]+):(%d+)') do
    since[process] = math.min(tonumber(us), q.us)
    is_due = is_due or q.us - since[process] >= GONE_US
  end
  return since, is_due
end

-- By process, when it was heard of: those for which nobody listens, but for the caller.
local function unheard(q, process)
  local rows, channels, found = redis.pcall('ZRANGE', heard_key(q), 0, MOST - 1, 'WITHSCORES'), {}, {}
  for place = 1, #rows, 2 do channels[#channels + 1] = q.inboxes .. rows[place] end
  local counts = #channels > 0 and redis.call('PUBSUB', 'NUMSUB', unpack(channels)) or {}
  for place = 1, #rows, 2 do
    if counts[place + 1] == 0 and rows[place] ~= process then found[rows[place]] = tonumber(rows[place + 1]) end
  end
  return found
end

-- Those of `scan` that were not heard of since: {process, with} of each, and by process.
local function read_scan(q, words)
  local ones, names = {}, {}
  for process, us, with in string.gmatch(words, '([^:%s]+):(%d+):(%S+)') do
    ones[#ones + 1], names[#names + 1] = { process = process, us = tonumber(us), with = with ~= '-' and with or nil, text = process .. ':' .. us .. ':' .. with }, process
  end
  local heard_us, left = #names > 0 and heard_of(q, names) or {}, {}
  for place, one in ipairs(ones) do
    if heard_us[place] <= one.us then
      left[#left + 1] = one
      left[one.process] = one
    end
  end
  return left
end

-- One step. Returns the number of deliveries that it has put back.
local function put_back_gone(q, scan)
  local cursor, words = string.match(scan, '^(%d+)(.*)$')
  local gone, bytes, count = read_scan(q, words), 0, 0
  local found = redis.call('ZSCAN', q.away, cursor, 'COUNT', SCANNED)
  local next_cursor = found[1]
  for place = 1, #found[2], 2 do
    local _, _, _, process = string.match(found[2][place], HANDLE)
    local one = process and gone[process]
    if one and bytes >= MOST_BYTES then
      -- What is left of these is found again.
      next_cursor = nil
      break
    end
    local item = one and recall(q, { found[2][place] })[1]
    if item then
      return_crashed(q, item, one.with)
      bytes, count = bytes + #item.body, count + 1
    end
  end
  if next_cursor == '0' then
    for _, one in ipairs(gone) do
      redis.pcall('ZREM', heard_key(q), one.process)
      redis.call('ZREM', q.idle, one.process)
    end
    redis.call('HDEL', q.about, 'scan')
  else
    local texts = {}
    for place, one in ipairs(gone) do texts[place] = one.text end
    redis.call('HSET', q.about, 'scan', (next_cursor or cursor) .. ' ' .. table.concat(texts, ' '))
    q.recheck_ms = q.ms
  end
  return count
end

-- Notes who is gone since when. Returns the scan of those that are so for long enough, or nil.
local function note_gone(q, process, before)
  local words, texts = {}, {}
  for one, heard_us in pairs(unheard(q, process)) do
    local since_us = before[one] or q.us
    if heard_us > since_us then since_us = q.us end
    if q.us - since_us >= GONE_US then
      texts[#texts + 1] = one .. ':' .. string.format('%.0f', since_us) .. ':' .. (suspects_out(q)[one] or '-')
    else
      words[#words + 1] = one .. ':' .. string.format('%.0f', since_us)
      q.recheck_ms = math.min(q.recheck_ms or math.huge, (since_us + GONE_US) / 1000)
    end
  end
  table.sort(words)
  table.sort(texts)
  -- `last` follows the clock while there are deliveries, so that a clock that was set back is noticed.
  next_number(q)
  redis.call('HSET', q.about, 'looked', string.format('%.0f', q.ms), 'gone', table.concat(words, ' '))
  redis.call('PEXPIRE', heard_key(q), HEARD_MS)
  return texts[1] and '0 ' .. table.concat(texts, ' ')
end

-- Puts back the deliveries of the gone. Returns their number.
local function look_for_gone(q, process)
  local before, is_due = read_gone(q)
  -- What cannot be read is as if it had never been there.
  local looked_ms, scan = tonumber(q.more[1] or '0') or 0, string.match(q.more[3] or '', '^%d+ .+$')
  if not scan and (is_due or math.abs(q.ms - looked_ms) >= LOOK_MS) then
    -- A queue that nobody but waiters has used leaves nothing behind.
    if q.last == 0 and not q.away_ms then return 0 end
    scan = note_gone(q, process, before)
  end
  return scan and put_back_gone(q, scan) or 0
end
