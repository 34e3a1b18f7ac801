// Generated from leave.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "queues/lua/leave",
  sha1: "f46a76c5089baa6362dfe044e360fbcb43c0da18",
  source: `local CHUNK = 1000
local function checked(key, reply)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if not string.find(reply.err, 'WRONGTYPE') then error(reply) end
  error({ err = 'WRONGTYPE another program owns the key ' .. key })
end
local HANDLE = '^(%d+):(%d+):(%d+):([^:]*):?(.*)$'
local off, away, idle = KEYS[1], KEYS[2], KEYS[3]
local process = ARGV[1]
local handles, given = {}, {}
for _, handle in ipairs(checked(away, redis.pcall('ZRANGE', away, 0, -1))) do
  local _, _, _, holder = string.match(handle, HANDLE)
  if holder == process then handles[#handles + 1] = handle end
end
checked(off, redis.pcall('HLEN', off))
checked(idle, redis.pcall('ZREM', idle, process))
for first = 1, #handles, CHUNK do
  local last = math.min(first + CHUNK - 1, #handles)
  for place, body in ipairs(redis.call('HMGET', off, unpack(handles, first, last))) do
    if body then
      given[#given + 1] = handles[first + place - 1]
      given[#given + 1] = body
    end
  end
end
return given
`,
};
