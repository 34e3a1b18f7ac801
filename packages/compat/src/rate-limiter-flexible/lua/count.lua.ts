// Generated from count.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "rate-limiter-flexible/lua/count",
  sha1: "2678d68d75db917fe0fcc1ebd5fdbf081f9d9c33",
  source: `local key, how, points = KEYS[1], ARGV[1], ARGV[2]
local life, limit, block = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
if how == 'delete' then return redis.call('DEL', key) end
if how == 'get' then
  local count = redis.call('GET', key)
  return count and { count, redis.call('PTTL', key) }
end
if how == 'set' then
  redis.call('SET', key, points)
  if life > 0 then redis.call('PEXPIRE', key, life) end
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
  redis.call('PEXPIRE', key, life)
  ttl = life
end
return { count, ttl }
`,
};
