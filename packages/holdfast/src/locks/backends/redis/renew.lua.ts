// Generated from renew.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/renew",
  sha1: "f4698d4f1acd995a851a8573b80fdb27eb05b483",
  source: `local outcomes = {}
for place = 1, #KEYS do
  local lock, id, ttl_ms = KEYS[place], ARGV[2 * place - 1], ARGV[2 * place]
  local held = redis.pcall('GET', lock)
  local mine = type(held) == 'string' and string.sub(held, 1, #id + 1) == id .. ' '
  outcomes[place] = mine and redis.call('PEXPIRE', lock, ttl_ms) or 0
end
return outcomes
`,
};
