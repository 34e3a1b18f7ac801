// Generated from grant.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "model/quorum/grant",
  sha1: "3818e6dcb3275e9340467679cb6ae28663f5fdd7",
  source: `local hold, token, nonce, ttl_ms, floor = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
local held = redis.call('GET', hold)
local known = redis.call('GET', token)
if held then
  if string.sub(held, 18) == nonce then return {1, string.sub(held, 1, 16)} end
  return {0, redis.call('PTTL', hold), known or ''}
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local stamp = math.max(tonumber(known or '0') + 1, now, tonumber(floor))
local text = string.format('%016.0f', stamp)
local keep_ms = 86400000 + math.ceil(math.max(stamp - now, 0) / 1000)
redis.call('SET', token, text, 'PX', string.format('%.0f', keep_ms + ttl_ms))
redis.call('SET', hold, text .. ' ' .. nonce, 'PX', ttl_ms)
return {1, text}
`,
};
