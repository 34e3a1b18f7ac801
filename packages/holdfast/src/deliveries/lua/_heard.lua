--[[
Processes that were heard of, by a take, an extension or a look: <about>:heard, a zset, process -> us. Whoever has deliveries or free places
looks every 2 s. Needs _about.lua.

q.slow  the field `slow` of _about.lua: processes whose first lease ran out although they listen, "<process> …". They are the last to whom a
        message is given, until they acknowledge or extend something
]]
local LATELY_US = 3000000
local HEARD_MS = 86400000
local MOST_SLOW = 100

local function heard_key(q)
  return q.about .. ':heard'
end

-- By place, when these were heard of. What another program keeps there says nothing.
local function heard_of(q, processes)
  local found, times = redis.pcall('ZMSCORE', heard_key(q), unpack(processes)), {}
  for place = 1, #processes do times[place] = tonumber(found[place] or '0') end
  return times
end

local function hear(q, process)
  if redis.pcall('ZADD', heard_key(q), string.format('%.0f', q.us), process) == 1 then
    redis.pcall('PEXPIRE', heard_key(q), HEARD_MS)
  end
end

local function is_slow(q, process)
  return q.slow and string.find(' ' .. q.slow .. ' ', ' ' .. process .. ' ', 1, true) and true or false
end

local function set_slow(q, process, is_so)
  if is_slow(q, process) == is_so then return end
  local words = {}
  for one in string.gmatch(q.slow or '', '%S+') do
    if one ~= process then words[#words + 1] = one end
  end
  if is_so then words[#words + 1] = process end
  q.slow = table.concat(words, ' ', math.max(1, #words - MOST_SLOW + 1))
  q.is_slow_changed = true
end
