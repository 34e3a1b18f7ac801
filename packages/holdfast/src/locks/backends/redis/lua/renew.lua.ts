// Generated from renew.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "locks/backends/redis/lua/renew",
  sha1: "a7567f4c9cac3f5a236d01ff68556f639163f4ba",
  source: `local outcomes = {}
for place = 1, #KEYS do
  local lock, id = KEYS[place], ARGV[place]
  local held = redis.pcall('GET', lock)
  outcomes[place] = held and 0 or -1
  if type(held) == 'string' and string.sub(held, 18, 18 + #id) == id .. ' ' then
    local keep_ms, ttl_ms = string.match(held, '^%d+ %d+ (%d+) (%d+) ', 19 + #id)
    if ttl_ms and (string.sub(held, 17, 17) == ' ' or redis.call('PTTL', lock) > tonumber(keep_ms)) then
      outcomes[place] = redis.call('PEXPIRE', lock, keep_ms + ttl_ms)
    end
  end
end
outcomes[#KEYS + 1] = ARGV[1]
return outcomes
`,
};
