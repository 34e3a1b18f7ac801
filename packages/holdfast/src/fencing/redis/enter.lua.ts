// Generated from enter.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "fencing/redis/enter",
  sha1: "cee9b8004cb5956c3d54c4517daae089eaa54d86",
  source: `local function older(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end
local function refused_by(record, token, holder)
  local stored = redis.call('HMGET', record, 'token', 'holder', 'value')
  local seen, by, value = stored[1], stored[2], stored[3]
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
