// Generated from drain.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "queues/lua/drain",
  sha1: "5d05642496cad814c9cd72728c2a3535da2bdb4f",
  source: `local CHUNK = 1000
local function checked(key, reply)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if not string.find(reply.err, 'WRONGTYPE') then error(reply) end
  error({ err = 'WRONGTYPE another program owns the key ' .. key })
end
local about, line, off, away, idle, later, again = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local most = tonumber(ARGV[1])
checked(about, redis.pcall('HLEN', about))
checked(off, redis.pcall('HLEN', off))
checked(away, redis.pcall('ZCARD', away))
checked(idle, redis.pcall('ZCARD', idle))
checked(again, redis.pcall('ZCARD', again))
checked(later, redis.pcall('ZCARD', later))
local deleted = checked(line, redis.pcall('LLEN', line)) / 2
redis.call('UNLINK', line)
for _, key in ipairs({ again, later }) do
  local members = redis.call('ZRANGE', key, 0, most - 1)
  if #members > 0 then
    redis.call('HDEL', off, unpack(members))
    redis.call('ZREM', key, unpack(members))
  end
  deleted = deleted + #members
end
return { deleted, redis.call('ZCARD', again) + redis.call('ZCARD', later) }
`,
};
