// Generated from barrier-withdraw.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "synchronizers/lua/barrier-withdraw",
  sha1: "c92939ffaf9afa6cf191f7da3d61f480c4269fb8",
  source: `local withdrawn, arrival, generation = KEYS[6], ARGV[1], ARGV[2]
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
local keys = keys_of(KEYS)
read_barrier(keys)
local before = find_trip(keys, generation, arrival)
if before then return before end
drop_arrival(keys, arrival)
redis.call('SET', withdrawn, '1', 'PX', REQUEST_MS)
return { 'x' }
`,
};
