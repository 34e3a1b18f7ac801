// Generated from reset.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "lanes/lua/reset",
  sha1: "ce70bdf390ad4029d414c08301c51136ad2309a4",
  source: `local about, rec, idle, name, inboxes = KEYS[1], KEYS[2], KEYS[6], ARGV[1], ARGV[2]
local found = redis.pcall('HSCAN', rec, 0, 'COUNT', 1000)
if not found.err then
  for place = 1, #found[2], 2 do
    redis.call('UNLINK', about .. ':lane:' .. found[2][place])
    redis.call('HDEL', rec, found[2][place])
  end
  if redis.call('EXISTS', rec) == 1 then return 0 end
end
local processes = redis.pcall('ZRANGE', idle, 0, -1)
redis.call('UNLINK', unpack(KEYS))
for _, process in ipairs(processes) do redis.call('PUBLISH', inboxes .. process, 'lanes ' .. name) end
return 1
`,
};
