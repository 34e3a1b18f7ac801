// Generated from barrier-attend.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "synchronizers/lua/barrier-attend",
  sha1: "e95ee62ffff8e722045a745c51b79ba0149c488b",
  source: `local size, ttl_ms, keep_ms, floor, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local process, inboxes, listening, elsewhere, owner = ARGV[6], ARGV[7], ARGV[8], ARGV[9] == '1', ARGV[10]
local function read_clock()
  local time = redis.call('TIME')
  return string.sub('000000000' .. time[1], -10) .. string.sub('00000' .. time[2], -6)
end
local function next_version(previous, now)
  local version, last = tonumber(now), tonumber(previous or '0')
  if version <= last then version = last + 1 end -- guard: version rises
  if version > 9007199254000000 then error({ err = 'ERR the versions of this object are used up, delete its key' }) end
  return string.format('%016.0f', version)
end
local TOMBSTONE_MS = 86400000
local REQUEST_MS = 60000
local function read_fields(key, ...)
  local row = redis.call('HMGET', key, 'version', ...)
  local version = row[1]
  if not version and redis.call('EXISTS', key) == 1 or version and not string.match(version, '^%d+$') then
    error({ err = 'WRONGTYPE another program wrote the hash ' .. key })
  end
  return unpack(row)
end
local function prolong(key, keep_ms, is_new)
  local left_ms = redis.call('PTTL', key)
  if keep_ms == '0' then
    if left_ms >= 0 then redis.call('PERSIST', key) end
  elseif is_new or (left_ms >= 0 and left_ms < tonumber(keep_ms)) then
    redis.call('PEXPIRE', key, keep_ms)
  end
end
local REMEMBERED_MS = 60000
local MOST_REMEMBERED = 10000
local ASTRAY_US = 1000000
local NEVER = '0000000000000000'
local function keys_of(names)
  return { barrier = names[1], leases = names[2], arrivals = names[3], tripped = names[4], data = names[5] }
end
local function read_barrier(keys)
  local version, size, generation, since, ticket = read_fields(keys.barrier, 'size', 'generation', 'since', 'ticket')
  redis.call('ZCARD', keys.leases)
  redis.call('HEXISTS', keys.arrivals, '')
  redis.call('ZCARD', keys.tripped)
  redis.call('HEXISTS', keys.data, '')
  return {
    version = version or NEVER, size = size or nil, generation = generation or NEVER, since = since or NEVER,
    ticket = tonumber(ticket or '0'),
  }
end
local function drop_arrival(keys, arrival)
  redis.call('ZREM', keys.leases, arrival)
  redis.call('HDEL', keys.arrivals, arrival)
  redis.call('HDEL', keys.data, arrival)
end
local function drop_expired(keys, now)
  for _, arrival in ipairs(redis.call('ZRANGE', keys.leases, '-inf', now, 'BYSCORE')) do drop_arrival(keys, arrival) end
end
local function drop_astray(keys, now, ttl_ms)
  local longest = '(' .. string.format('%.0f', now + ttl_ms * 1000)
  for _, arrival in ipairs(redis.call('ZRANGE', keys.leases, longest, '+inf', 'BYSCORE')) do
    local own_ms = string.match(redis.call('HGET', keys.arrivals, arrival) or '', '^%d+ (%d+) ')
    local ends = tonumber(redis.call('ZSCORE', keys.leases, arrival))
    if not own_ms or ends > now + own_ms * 1000 + ASTRAY_US then drop_arrival(keys, arrival) end
  end
end
local function find_trip(keys, from, arrival)
  for _, entry in ipairs(redis.call('ZRANGE', keys.tripped, from, '+inf', 'BYSCORE')) do
    if string.find(entry, ' ' .. arrival .. ' ', 1, true) then
      local generation, has_data, rest = string.match(entry, '^(%d+) (%d) (.*)$')
      local index, found, brought = 0, nil, {}
      for each in string.gmatch(rest, '%S+') do
        if each == arrival then found = index end
        if has_data == '1' then brought[index + 1] = redis.call('HGET', keys.data, each) or '' end
        index = index + 1
      end
      return { 't', generation, found, brought }
    end
  end
  return nil
end
local now = read_clock()
local keys = keys_of(KEYS)
local state = read_barrier(keys)
if state.size and state.size ~= size then return {0, tonumber(state.size)} end
local is_new = not state.size
local function begin_generation()
  state.generation = next_version(math.max(state.version, floor), now)
  state.version = state.generation
end
local function write_state()
  redis.call('HSET', keys.barrier, 'version', state.version, 'size', size, 'generation', state.generation,
    'since', state.since, 'ticket', string.format('%.0f', state.ticket))
end
if is_new or state.generation <= floor then
  redis.call('DEL', keys.leases, keys.arrivals, keys.tripped, keys.data)
  begin_generation()
  state.since = state.generation
  write_state()
end
drop_expired(keys, now)
drop_astray(keys, now, ttl_ms)
local function drop_gone()
  if elsewhere then return end
  for _, arrival in ipairs(redis.call('ZRANGE', keys.leases, 0, -1)) do
    local id = string.match(arrival, '^(.*)%.%d+$')
    local entry = id ~= process and redis.call('HGET', keys.arrivals, arrival)
    if entry and string.match(entry, '^%d+ %d+ 1 ') then
      local heard = redis.pcall('PUBSUB', 'NUMSUB', inboxes .. id)
      if not heard.err and heard[2] == 0 then drop_arrival(keys, arrival) end
    end
  end
end
local function prune()
  local before = string.format('%.0f', now - REMEMBERED_MS * 1000)
  local last = redis.call('ZRANGE', keys.tripped, before, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1)[1]
  local oldest = last and string.match(last, '^%d+')
  local most = math.max(math.floor(MOST_REMEMBERED / size), 2)
  local drop = redis.call('ZRANGE', keys.tripped, 0, -1 - most)
  if oldest then
    for _, entry in ipairs(redis.call('ZRANGE', keys.tripped, '-inf', '(' .. oldest, 'BYSCORE')) do drop[#drop + 1] = entry end
  end
  for _, entry in ipairs(drop) do
    redis.call('ZREM', keys.tripped, entry)
    local has_data, rest = string.match(entry, '^%d+ (%d) (.*)$')
    if has_data == '1' then
      for arrival in string.gmatch(rest, '%S+') do redis.call('HDEL', keys.data, arrival) end
    end
  end
end
local function messages_to(present, has_data)
  local ids, messages = {}, {}
  for place, arrival in ipairs(present) do
    local id = string.match(arrival, '^(.*)%.%d+$')
    if not messages[id] then
      ids[#ids + 1] = id
      messages[id] = 'tripped ' .. state.generation .. ' ' .. has_data
    end
    messages[id] = messages[id] .. ' ' .. arrival .. ' ' .. place - 1
  end
  return ids, messages
end
local function trip()
  local present = redis.call('ZRANGE', keys.leases, 0, -1)
  local tickets, has_data = {}, '0'
  for _, arrival in ipairs(present) do
    tickets[arrival] = tonumber(string.match(redis.call('HGET', keys.arrivals, arrival) or '', '^%d+') or '0')
    if redis.call('HEXISTS', keys.data, arrival) == 1 then has_data = '1' end
  end
  table.sort(present, function(a, b) return tickets[a] < tickets[b] end)
  local told = state.generation .. ' ' .. has_data .. ' ' .. table.concat(present, ' ') .. ' '
  local ids, messages = messages_to(present, has_data)
  redis.call('ZADD', keys.tripped, state.generation, told)
  redis.call('DEL', keys.leases, keys.arrivals)
  begin_generation()
  write_state()
  prune()
  for _, id in ipairs(ids) do redis.call('PUBLISH', inboxes .. id, messages[id]) end
end
local function arrive(arrival, brought)
  state.ticket = state.ticket + 1
  redis.call('ZADD', keys.leases, string.format('%.0f', now + ttl_ms * 1000), arrival)
  redis.call('HSET', keys.arrivals, arrival,
    string.format('%.0f', state.ticket) .. ' ' .. ttl_ms .. ' ' .. listening .. ' ' .. owner)
  if brought ~= '' then redis.call('HSET', keys.data, arrival, brought) end
  write_state()
  if redis.call('ZCARD', keys.leases) < tonumber(size) then return end
  drop_gone()
  if redis.call('ZCARD', keys.leases) >= tonumber(size) then trip() end -- guard: a generation trips with all its parties
end
local function renew(arrival)
  redis.call('ZADD', keys.leases, string.format('%.0f', now + ttl_ms * 1000), arrival)
  local entry = redis.call('HGET', keys.arrivals, arrival)
  local ticket = entry and string.match(entry, '^%d+') or '0'
  redis.call('HSET', keys.arrivals, arrival, ticket .. ' ' .. ttl_ms .. ' ' .. listening .. ' ' .. owner)
end
local function attend(withdrawn, arrival, generation, waits, brought)
  if redis.call('EXISTS', withdrawn) == 1 then return { 'x' } end
  if redis.call('ZSCORE', keys.leases, arrival) then return renew(arrival) end
  if generation == NEVER then return { '?' } end
  local before = find_trip(keys, generation, arrival)
  if before then return before end
  if waits and generation < state.generation and generation >= state.since then return { 'l' } end
  if now > not_after then return { '?' } end
  return arrive(arrival, brought)
end
local verdicts, first_generation = {}, state.generation
for place = 6, #KEYS do
  local at = 11 + (place - 6) * 4
  verdicts[place] = attend(KEYS[place], ARGV[at], ARGV[at + 1], ARGV[at + 2] == '1', ARGV[at + 3]) or false
end
prolong(keys.barrier, keep_ms, is_new)
local brief_ms = string.format('%.0f', math.max(ttl_ms * 2, REMEMBERED_MS * 2))
for _, key in ipairs({ keys.leases, keys.arrivals, keys.tripped, keys.data }) do prolong(key, brief_ms, redis.call('PTTL', key) == -1) end
local reply = { 1, state.generation, now }
for place = 6, #KEYS do
  local arrival = ARGV[11 + (place - 6) * 4]
  reply[#reply + 1] = verdicts[place] or find_trip(keys, first_generation, arrival) or { 'w' }
end
return reply
`,
};
