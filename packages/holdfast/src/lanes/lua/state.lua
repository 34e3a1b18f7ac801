--[[
state: how much there is in all lanes of a name. Changes nothing.

KEYS[1..10]  about, rec, ready, off, away, idle, later, again, cancelled, held   see _lanes.lua
KEYS[11]     dead      see _lanes.lua

Returns  {exists, paused, lanes, waiting, delayed, in_flight, parked, held, dead, free, processes, stuck}
         waiting    messages that wait and are not cancelled, those that came back with them
         delayed    messages that came back, and wait for their time while their lanes go on
         parked     lanes that wait: for the time of a message that came back, or of their rate
         held       lanes that somebody paused
         stuck      handlers that run after their time-out, in all processes
         free       free places of the processes that wait for messages
Raises   WRONGTYPE where another program owns a key

Retry    safe
Clock    the server's, read once
Cost     O(p + log n) with p processes that wait
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_stuck.lua"
--- @include "_rec.lua"
local q = {
  about = KEYS[1], rec = KEYS[2], ready = KEYS[3], off = KEYS[4], away = KEYS[5], idle = KEYS[6], later = KEYS[7], again = KEYS[8],
  cancelled = KEYS[9], held = KEYS[10], dead = KEYS[11],
}
view_lanes(q)
local stored = tonumber(q.more[1] or '0') or 0
local delayed = redis.call('ZLEXCOUNT', q.again, '[w ', '(w!')
local waiting = stored - redis.call('ZCARD', q.cancelled) + redis.call('ZCARD', q.again) - delayed
local _, stuck = stuck_in(redis.call('HGET', q.about, 'stuck'), q.ms, '')
local free, idle = 0, redis.call('ZRANGE', q.idle, 0, -1, 'WITHSCORES')
for place = 2, #idle, 2 do free = free - tonumber(idle[place]) end
return {
  redis.call('EXISTS', q.about), q.paused and 1 or 0, redis.call('HLEN', q.rec), math.max(0, waiting), delayed,
  redis.call('ZCARD', q.away), redis.call('ZCARD', q.later) - delayed, redis.call('SCARD', q.held), redis.call('ZCARD', q.dead), free,
  #idle / 2, stuck,
}
