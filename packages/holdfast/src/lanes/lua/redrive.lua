--[[
redrive: dead letters wait again in their lanes, as if they had never been delivered, before all that were pushed later.

KEYS[1..10]  about, rec, ready, off, away, idle, later, again, cancelled, held   see _lanes.lua
KEYS[11..12] dead, letters                               see _lanes.lua
ARGV[1]      name      of the lanes, without blanks
ARGV[2]      inboxes   see deliveries/lua/_deliveries.lua
ARGV[3]      reach     see deliveries/lua/_deliveries.lua
ARGV[4]      settings  see _lanes.lua
ARGV[5]      most      integer, at most 100: how many of the oldest, where no tickets follow
ARGV[6]      until_ms  only those that were dead before, by the server's clock; '' for all
ARGV[7..n]   tickets   of dead letters, at most 100

Returns  {redriven, seen, ms}  seen: how many it looked at, the first ones. ms: the server's clock, for the next `until_ms`
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    tells of its own run: with tickets a second copy redrives nothing that did not die again; without them it redrives further ones
Clock    the server's, read once
Cost     O(n log m) with m dead letters
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_lanes.lua"
--- @include "../../deliveries/lua/_deal.lua"
local q = {
  about = KEYS[1], rec = KEYS[2], ready = KEYS[3], off = KEYS[4], away = KEYS[5], idle = KEYS[6], later = KEYS[7], again = KEYS[8],
  cancelled = KEYS[9], held = KEYS[10], dead = KEYS[11], letters = KEYS[12],
  verb = 'lanes', name = ARGV[1], inboxes = ARGV[2], reach = ARGV[3],
}
local settings, most, until_ms, tickets = ARGV[4], tonumber(ARGV[5]), ARGV[6], { unpack(ARGV, 7) }
open_lanes(q, '', settings)
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about

-- Returns the bytes of the body; nil: there is no such dead letter.
local function redrive(ticket)
  local number, lane = string.match(ticket, '^(%d+)@(.+)$')
  local body = number and redis.call('HGET', q.letters, ticket)
  redis.call('ZREM', q.dead, ticket)
  redis.call('HDEL', q.letters, ticket, 'why:' .. ticket)
  if not body then return nil end
  redis.call('DEL', q.about .. ':result:' .. ticket)
  local rec = change(q, lane)
  put_back(q, rec, { number = number, attempts = 0, body = body }, 0)
  arrange(q, rec)
  return #body
end

local before = until_ms == '' and string.format('%.0f', q.ms) or until_ms
if #tickets == 0 then tickets = redis.call('ZRANGE', q.dead, '-inf', before, 'BYSCORE', 'LIMIT', 0, most) end
local count, seen, bytes = 0, 0, 0
for _, ticket in ipairs(tickets) do
  seen = seen + 1
  local size = redrive(ticket)
  if size then
    count, bytes = count + 1, bytes + size
    if bytes >= MOST_BYTES then break end
  end
end
deal(q)
if q.is_sooner then tell_one(q) end
close_lanes(q)
return { count, seen, q.ms }
