// Generated from reset.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "queues/lua/reset",
  sha1: "4349c9984fdd4e215a46d630e2f585620b5fbe01",
  source: `local idle = KEYS[5]
local name, inboxes = ARGV[1], ARGV[2]
local processes = redis.pcall('ZRANGE', idle, 0, -1)
local is_there = redis.call('UNLINK', unpack(KEYS)) > 0
for _, process in ipairs(processes) do redis.call('PUBLISH', inboxes .. process, 'queue ' .. name) end
return is_there and 1 or 0
`,
};
