--[[
Processes that are gone: they have deliveries, nobody listened for them at two looks GONE_MS apart, and they did not look or extend in
between. A process whose messages come from another server, as after a failover, notices that within 2 s: ../../redis/presence.ts. Needs
_deal.lua, and q.more = { looked, gone } of _about.lua.
]]
local LOOK_MS = 700
local GONE_MS = 3000
local MOST = 200

-- The processes of the first deliveries, each with its handles, and the channels of their inboxes. Third: whether there may be more.
local function holders(q)
  local found, channels = {}, {}
  local handles = redis.call('ZRANGE', q.away, 0, MOST - 1)
  for _, handle in ipairs(handles) do
    local _, _, _, process = string.match(handle, HANDLE)
    if process and not found[process] then
      found[process] = { process = process, handles = {} }
      channels[#channels + 1] = q.inboxes .. process
    end
    if process then table.insert(found[process].handles, handle) end
  end
  return found, channels, #handles == MOST
end

-- Since when each was seen without a listener, in ms. A clock that was set back must not keep them. Second: whether one is due.
local function read_gone(q)
  local since, is_due = {}, false
  for process, ms in string.gmatch(q.more[2] or '', '([^:%s]+):(%d+)') do
    since[process] = math.min(tonumber(ms), q.ms)
    is_due = is_due or q.ms - since[process] >= GONE_MS
  end
  return since, is_due
end

-- Puts back the deliveries of the gone. Returns their number.
local function look_for_gone(q, process)
  local before, is_due = read_gone(q)
  is_due = is_due or math.abs(q.ms - tonumber(q.more[1] or '0')) >= LOOK_MS
  if not is_due and not before[process] then return 0 end
  local since, count = {}, 0
  if is_due then
    local found, channels, are_many = holders(q)
    -- A queue that nobody but waiters has used leaves nothing behind.
    if #channels == 0 and not q.more[2] then return 0 end
    local counts = #channels > 0 and redis.call('PUBSUB', 'NUMSUB', unpack(channels)) or {}
    for place = 1, #counts, 2 do
      local holder = found[string.sub(counts[place], #q.inboxes + 1)]
      local since_ms = before[holder.process] or q.ms
      if counts[place + 1] > 0 or holder.process == process then
        since_ms = nil
      elseif q.ms - since_ms >= GONE_MS then
        local with = suspects_out(q)[holder.process]
        for _, item in ipairs(recall(q, holder.handles)) do
          if item then
            item.is_dead = charge_crash(q, item, with)
            give_back(q, item, 0, item.is_dead and 'its process ended, ' .. MOST_CRASHES .. ' times' or nil)
            count = count + 1
          end
        end
        redis.call('ZREM', q.idle, holder.process)
        if not are_many then since_ms = nil end
      end
      since[holder.process] = since_ms
      if since_ms then q.recheck_ms = math.min(q.recheck_ms or math.huge, since_ms + GONE_MS) end
    end
  else
    since = before
  end
  since[process] = nil
  local words = {}
  for one, ms in pairs(since) do words[#words + 1] = one .. ':' .. string.format('%.0f', ms) end
  table.sort(words)
  local looked = is_due and q.ms or tonumber(q.more[1])
  -- `last` follows the clock while there are deliveries, so that a clock that was set back is noticed.
  if is_due then next_number(q) end
  redis.call('HSET', q.about, 'looked', string.format('%.0f', looked), 'gone', table.concat(words, ' '))
  return count
end
