// Generated from note.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "limits/lua/note",
  sha1: "418290b9d128b80d44f35c6d6e131d2c7637dac8",
  source: `local index = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', index, '-inf', string.format('%.0f', now))
for place = 1, #ARGV, 2 do
  redis.call('ZADD', index, 'GT', string.format('%.0f', now + ARGV[place + 1]), ARGV[place])
end
local last = redis.call('ZRANGE', index, 0, 0, 'REV', 'WITHSCORES')[2]
redis.call('PEXPIRE', index, string.format('%.0f', last - now))
return 1
`,
};
