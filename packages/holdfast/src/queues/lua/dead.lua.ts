// Generated from dead.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "queues/lua/dead",
  sha1: "54ba5092f5d4e8b393dbb082b93d964c4742a5ed",
  source: `local CHUNK = 1000
local function checked(key, reply)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if not string.find(reply.err, 'WRONGTYPE') then error(reply) end
  error({ err = 'WRONGTYPE another program owns the key ' .. key })
end
local dead, letters = KEYS[1], KEYS[2]
local count = tonumber(ARGV[1])
local MOST = 1048576
local rows = checked(dead, redis.pcall('ZRANGE', dead, 0, count - 1, 'REV', 'WITHSCORES'))
checked(letters, redis.pcall('HLEN', letters))
local seen, bytes = {}, 0
for place = 1, #rows, 2 do
  local found = redis.call('HMGET', letters, rows[place], 'why:' .. rows[place])
  local attempts, reason = string.match(found[2] or '', '^(%d+) (.*)$')
  if found[1] and attempts then
    for _, word in ipairs({ rows[place], found[1], tonumber(attempts), reason, tonumber(rows[place + 1]) }) do
      seen[#seen + 1] = word
    end
    bytes = bytes + #found[1]
    if bytes >= MOST then break end
  end
end
return seen
`,
};
