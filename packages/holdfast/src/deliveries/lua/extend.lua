--[[
extend: moves the deadlines of deliveries.

KEYS[1]  about  hash  see _about.lua
KEYS[2]  away   zset  see _deliveries.lua
ARGV[1]  lease_ms     from now
ARGV[2..n] handles

Returns  {late}  the places of the deliveries that are over, from 0: '' or "0,3"
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    safe: a second copy counts from its own arrival
Clock    the server's, read once
Cost     O(n log m) with n the deliveries extended, and m those of all processes
]]
--- @include "_about.lua"
--- @include "_deliveries.lua"
local q = { about = KEYS[1], away = KEYS[2] }
local lease_ms, handles = tonumber(ARGV[1]), {}
for place = 2, #ARGV do handles[#handles + 1] = ARGV[place] end
open(q, '')
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about
go_on_at_maxmemory(q)
local late
for first = 1, #handles, CHUNK do
  local last, words = math.min(first + CHUNK - 1, #handles), {}
  local deadlines = checked(q.away, redis.pcall('ZMSCORE', q.away, unpack(handles, first, last)))
  for place = first, last do
    if deadlines[place - first + 1] then
      words[#words + 1] = string.format('%.0f', q.ms + lease_ms)
      words[#words + 1] = handles[place]
    else
      late = late or {}
      late[place - 1] = true
    end
  end
  if #words > 0 then redis.call('ZADD', q.away, unpack(words)) end
end
-- The process lives, although nobody may listen for it, and it answers.
local _, _, _, process = string.match(handles[1] or '', HANDLE)
if process and not (late and late[0]) then
  hear(q, process)
  set_slow(q, process, false)
end
close(q)
return { late_text(late) }
