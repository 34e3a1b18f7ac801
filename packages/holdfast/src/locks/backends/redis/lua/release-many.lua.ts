// Generated from release-many.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/lua/release-many",
  sha1: "cd623882222ded6094ba59cf549375b11b5addb7",
  source: `local outcomes = {}
for place = 1, #KEYS do
  local lock, id = KEYS[place], ARGV[place]
  local held = redis.pcall('GET', lock)
  local mine = type(held) == 'string' and string.sub(held, 17, 18 + #id) == ' ' .. id .. ' '
  if mine then redis.call('SET', lock, string.sub(held, 1, 17), 'KEEPTTL') end
  outcomes[place] = mine and 1 or 0
end
return outcomes
`,
};
