// Generated from guard.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "guards/guard",
  sha1: "f079219db9d09fa3c245eb767261d423e9d78a07",
  source: `local record, count = KEYS[1], KEYS[2]
local how, hits, per, decay = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local penalties = {}
for place = 5, #ARGV, 2 do
  penalties[#penalties + 1] = { length = tonumber(ARGV[place]), is_prolonged = ARGV[place + 1] == '1' }
end
local function alien(key)
  error({ err = 'WRONGTYPE the key of this guard holds something else: ' .. key })
end
local function keep(key, state, for_us)
  redis.call('SET', key, state, 'PX', math.floor((for_us + 999) / 1000))
end
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
  if not was_strikes then alien(record) end
  strikes, ends, cleared = tonumber(was_strikes), tonumber(was_ends), tonumber(was_cleared)
  if cleared > now then cleared = 0 end
  if now >= ends + decay then strikes = 0 end
end
local place = math.min(strikes, #penalties)
local penalty = penalties[place]
if penalty then
  local is_moved = ends > now + penalty.length
  if is_moved or how == 'hit' and penalty.is_prolonged and now < ends then
    ends = now + penalty.length
    if how == 'hit' then write_record(penalty.length + math.max(decay, per)) end
  end
  if now < ends then
    return { 1, strikes, place, ends - now, 0 }
  end
end
local counted, start = 0, now
state = redis.call('GET', count)
if state then
  local was_counted, was_start = string.match(state, '^(%d+) (%d+)$')
  if not was_counted then alien(count) end
  counted, start = tonumber(was_counted), math.min(tonumber(was_start), now)
  if now >= start + per or start <= cleared then counted, start = 0, now end
end
if how == 'look' then return { 0, strikes, 0, 0, math.max(hits - counted, 0) } end
counted = counted + 1
if counted <= hits then
  keep(count, string.format('%.0f %.0f', counted, start), start + per - now)
  return { 0, strikes, 0, 0, hits - counted }
end
strikes = strikes + 1
place = math.min(strikes, #penalties)
ends, cleared = now + penalties[place].length, now
write_record(ends - now + math.max(decay, per))
redis.call('DEL', count)
return { 2, strikes, place, ends - now, 0 }
`,
};
