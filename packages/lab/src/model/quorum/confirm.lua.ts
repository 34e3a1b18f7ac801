// Generated from confirm.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "model/quorum/confirm",
  sha1: "e04f5b0b84bd1f2262acb480dbfc5931c6c62bd7",
  source: `local hold, token, nonce, stamp, value = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
if redis.call('GET', hold) ~= stamp .. ' ' .. nonce then return 0 end
local known = redis.call('GET', token)
if known and known >= value then return 1 end
redis.call('SET', token, value, 'PX', 2 * 86400000)
return 1
`,
};
