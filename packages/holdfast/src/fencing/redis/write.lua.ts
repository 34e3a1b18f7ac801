// Generated from write.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "fencing/redis/write",
  sha1: "d9f5c21a998e4727f73da9184b6c356de0607981",
  source: `local function older(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end
local function refused_by(record, token, holder)
  local stored = redis.call('HMGET', record, 'token', 'holder', 'value')
  local seen, by, value = stored[1], stored[2], stored[3]
  if seen and not string.match(seen, '^%d+$') then
    error('the key of this record holds something else: choose another name or prefix')
  end
  if seen and (older(token, seen) or (token == seen and by ~= holder)) then return seen end
  return nil, value
end
local record, token, holder, value = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local seen = refused_by(record, token, holder)
if seen then return {0, seen} end
redis.call('HSET', record, 'token', token, 'holder', holder, 'value', value)
return {1}
`,
};
