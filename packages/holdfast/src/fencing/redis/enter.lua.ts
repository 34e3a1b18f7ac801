// Generated from enter.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "fencing/redis/enter",
  sha1: "688f50eeb89463542901709c6751e5a834b88a54",
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
local record, token, holder = KEYS[1], ARGV[1], ARGV[2]
local seen, value = refused_by(record, token, holder)
if seen then return {0, seen} end
redis.call('HSET', record, 'token', token, 'holder', holder)
return {1, value}
`,
};
