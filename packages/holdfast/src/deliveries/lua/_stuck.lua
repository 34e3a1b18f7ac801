--[[
Handlers that run after their time-out, as their processes told at their last look: the field `stuck` of _about.lua,
"<processId>:<ms>:<handlers> …".
]]
local STUCK_MS = 10000
-- Entries of processes that told lately, but for one. Second: the number of handlers.
local function stuck_in(text, ms, process)
  local entries, sum = {}, 0
  for one, told, handlers in string.gmatch(text or '', '([^:%s]+):(%d+):(%d+)') do
    if one ~= process and math.abs(ms - tonumber(told)) < STUCK_MS then
      entries[#entries + 1] = one .. ':' .. told .. ':' .. handlers
      sum = sum + tonumber(handlers)
    end
  end
  return entries, sum
end

local function note_stuck(q, process, handlers)
  local before = redis.call('HGET', q.about, 'stuck')
  if handlers == '0' and not before then return end
  local entries = stuck_in(before, q.ms, process)
  if handlers ~= '0' then entries[#entries + 1] = process .. ':' .. string.format('%.0f', q.ms) .. ':' .. handlers end
  if #entries == 0 then redis.call('HDEL', q.about, 'stuck')
  else redis.call('HSET', q.about, 'stuck', table.concat(entries, ' ')) end
end
