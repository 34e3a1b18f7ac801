--[[
The state of a barrier. Needs _fields.lua.

barrier   hash  version     of the last change
                size        how many parties a generation needs
                generation  the present one: the version of its beginning. It begins when the one before trips
                since       the generation with which this key began: of earlier ones nothing is known
                ticket      the number of the last arrival
leases    zset  arrival -> end of its lease, us of the server's clock
arrivals  hash  arrival -> "<ticket> <ttl_ms> <listening> <owner>"; listening: its inbox is 0 not subscribed, 1
                subscribed; larger: us since when nobody listened there
tripped   zset  "<generation> <has_data> <arrival> <arrival> … " -> generation: those that tripped in the last minute
data      hash  arrival -> what it brought, also while its generation is in tripped

An arrival is "<process>.<number>", and the inbox of its process is a channel with a common beginning. An owner is JSON and opaque here.
]]
-- How long a generation that tripped is remembered, and how many arrivals are at most.
local REMEMBERED_MS = 60000
local MOST_REMEMBERED = 10000
-- How far the clock may be set back before leases are given up.
local ASTRAY_US = 1000000
-- Between the two looks that find nobody who listens for a party. Its process notices within 2 s if its messages come from another
-- server, as after a failover, and renews: ../../redis/presence.ts.
local GONE_US = 3000000
local NEVER = '0000000000000000'

local function keys_of(names)
  return { barrier = names[1], leases = names[2], arrivals = names[3], tripped = names[4], data = names[5] }
end

local function read_barrier(keys)
  local version, size, generation, since, ticket = read_fields(keys.barrier, 'size', 'generation', 'since', 'ticket')
  -- Raise WRONGTYPE before anything is written.
  for _, number in ipairs({ size, generation, since, ticket }) do check_number(keys.barrier, number) end
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

-- A lease that ends later than its ttl from now shows that the clock was set back: nobody knows whether its party lives. One that lives
-- arrives again with its next statement. A clock that is set back by little all the time must not cost that much.
local function drop_astray(keys, now, ttl_ms)
  local longest = '(' .. string.format('%.0f', now + ttl_ms * 1000)
  for _, arrival in ipairs(redis.call('ZRANGE', keys.leases, longest, '+inf', 'BYSCORE')) do
    local own_ms = string.match(redis.call('HGET', keys.arrivals, arrival) or '', '^%d+ (%d+) ')
    local ends = tonumber(redis.call('ZSCORE', keys.leases, arrival))
    if not own_ms or ends > now + own_ms * 1000 + ASTRAY_US then drop_arrival(keys, arrival) end
  end
end

-- Which generation since `from` an arrival tripped in, its place there, and what all brought. Nil: in none that is remembered.
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
