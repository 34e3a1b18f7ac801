--[[
guard: counts a hit of a subject on a route, and punishes a subject that goes over, in one step.

KEYS[1]  record   the strikes and the penalty of the subject, see below
KEYS[2]  count    the subject's hits on this route, see below
ARGV[1]  how      string   'hit'; 'look': count nothing; 'pardon': forget the penalty, the strikes and the hits
ARGV[2]  hits     integer  the number of hits that are free in each `per`
ARGV[3]  per      integer  in µs, from its first hit
ARGV[4]  decay    integer  in µs: how long after the end of the last penalty the strikes are forgotten
ARGV[5..]         two for each penalty: the n-th strike has the n-th, those beyond have the last
         for      integer  in µs
         prolong  '1': a hit during the penalty starts it again; '0'

Returns  {verdict, strikes, place, left, remaining}
         verdict    0: free; 1: a penalty is in force; 2: this hit caused it
         place      of the penalty, from 1; 0 without one
         left       µs until the penalty ends, at least 1; 0 without one
         remaining  hits that are still free
Raises   WRONGTYPE, where a key holds something else

Retry    tells of its own run: a second copy counts again. So a hit without an answer may have been counted
Clock    the server's, read once. Where it was set back, a penalty ends at most its length after the next hit, and counts go on
Cost     O(1)

Every key is written whole and with its expiry, never incremented: a key that has expired is as one that never was.
]]
local record, count = KEYS[1], KEYS[2]
local how, hits, per, decay = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local penalties = {}
for place = 5, #ARGV, 2 do
  penalties[#penalties + 1] = { length = tonumber(ARGV[place]), is_prolonged = ARGV[place + 1] == '1' }
end

--- @include "../redis/lua/_foreign.lua"

local function keep(key, state, for_us)
  redis.call('SET', key, state, 'PX', math.floor((for_us + 999) / 1000))
end

-- state of the record: string "<strikes> <until> <cleared>": the end of the last penalty, and since when hits count
local strikes, ends, cleared = 0, 0, 0
local function write_record(for_us)
  keep(record, string.format('%.0f %.0f %.0f', strikes, ends, cleared), for_us)
end

if how == 'pardon' then
  cleared = now
  write_record(per)
  return { 0, 0, 0, 0, hits }
end

local state = redis.call('GET', record)
if state then
  local was_strikes, was_ends, was_cleared = string.match(state, '^(%d+) (%d+) (%d+)$')
  if not was_strikes then foreign(record, state) end
  strikes, ends, cleared = tonumber(was_strikes), tonumber(was_ends), tonumber(was_cleared)
  if cleared > now then cleared = 0 end
  if now >= ends + decay then strikes = 0 end
end

local place = math.min(strikes, #penalties)
local penalty = penalties[place]
if penalty then
  -- Ahead by more than the penalty is long: the clock was set back, or the penalty made shorter.
  local is_moved = ends > now + penalty.length
  if is_moved or how == 'hit' and penalty.is_prolonged and now < ends then
    ends = now + penalty.length
    if how == 'hit' then write_record(penalty.length + math.max(decay, per)) end
  end
  if now < ends then
    return { 1, strikes, place, ends - now, 0 }
  end
end

-- state of the count: string "<hits> <start>"
local counted, start = 0, now
state = redis.call('GET', count)
if state then
  local was_counted, was_start = string.match(state, '^(%d+) (%d+)$')
  if not was_counted then foreign(count, state) end
  counted, start = tonumber(was_counted), math.min(tonumber(was_start), now)
  if now >= start + per or start <= cleared then counted, start = 0, now end
end
if how == 'look' then return { 0, strikes, 0, 0, math.max(hits - counted, 0) } end

counted = counted + 1
if counted <= hits then
  keep(count, string.format('%.0f %.0f', counted, start), start + per - now)
  return { 0, strikes, 0, 0, hits - counted }
end
--- @include "../redis/lua/_rights.lua"
--- @rights record
strikes = strikes + 1
place = math.min(strikes, #penalties)
ends, cleared = now + penalties[place].length, now
write_record(ends - now + math.max(decay, per))
redis.call('DEL', count)
return { 2, strikes, place, ends - now, 0 }
