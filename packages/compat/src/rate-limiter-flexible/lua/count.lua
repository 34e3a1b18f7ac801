--[[
count: changes or reads the points of one key, as rate-limiter-flexible keeps them: a whole number with an expiry of its own.

KEYS[1]  key     string   the consumed points; below 0 after rewards
ARGV[1]  how     string   'add': add `points`; 'set': the count becomes `points`; 'get': read it; 'delete': remove the key
ARGV[2]  points  integer  negative: a reward
ARGV[3]  life    integer  in ms. 'add': of a key without an expiry; 'set': of the key. 0: no expiry
ARGV[4]  limit   integer  'add': the count from which the key is over its limit
ARGV[5]  block   integer  'add': in ms, how long the call blocks the key that brings it over its limit; 0: it does not

Returns  {count, ttl}  ttl in ms, -1: no expiry. 'get': null where there is no key. 'delete': the number of removed keys

Retry    a second copy of 'add' adds again; of the others it changes nothing
Clock    none of its own: the server expires the keys
Cost     O(1)
]]
local key, how, points = KEYS[1], ARGV[1], ARGV[2]
local life, limit, block = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
if how == 'delete' then return redis.call('DEL', key) end
if how == 'get' then
  local count = redis.call('GET', key)
  return count and { count, redis.call('PTTL', key) }
end
if how == 'set' then
  if life > 0 then redis.call('SET', key, points, 'PX', life)
  else redis.call('SET', key, points) end
  return { points, life > 0 and life or -1 }
end
if life > 0 then redis.call('SET', key, 0, 'PX', life, 'NX') end
local count = redis.call('INCRBY', key, points)
local ttl = redis.call('PTTL', key)
local was_under = count - points < limit
if block > 0 and was_under and count >= limit then
  redis.call('PEXPIRE', key, block)
  ttl = block
elseif ttl == -1 and life > 0 and was_under then
  -- A key above its limit keeps its missing expiry: it is blocked for ever, and must not free itself by a further try.
  redis.call('PEXPIRE', key, life)
  ttl = life
end
return { count, ttl }
