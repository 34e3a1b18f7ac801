// Generated from latch-look.lua by scripts/generate.ts; do not edit.
export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {
  name: "synchronizers/lua/latch-look",
  sha1: "74062a8501b5ee86ea5293b2ee58b5f932fa2c09",
  source: `local latch = KEYS[1]
local keep_ms = ARGV[1]
local TOMBSTONE_MS = 86400000
local REQUEST_MS = 60000
local function read_fields(key, ...)
  local row = redis.call('HMGET', key, 'version', ...)
  local version = row[1]
  if not version and redis.call('EXISTS', key) == 1 or version and not string.match(version, '^%d+$') then
    error({ err = 'WRONGTYPE another program wrote the hash ' .. key })
  end
  return unpack(row)
end
local function prolong(key, keep_ms, is_new)
  local left_ms = redis.call('PTTL', key)
  if keep_ms == '0' then
    if left_ms >= 0 then redis.call('PERSIST', key) end
  elseif is_new or (left_ms >= 0 and left_ms < tonumber(keep_ms)) then
    redis.call('PEXPIRE', key, keep_ms)
  end
end
local NEVER = '0000000000000000'
local function read_latch(latch)
  local version, generation, opened, size, left = read_fields(latch, 'generation', 'opened', 'size', 'left')
  return { version or NEVER, generation or NEVER, opened or NEVER, size or '', left or '' }
end
local function write_latch(latch, state)
  redis.call('HSET', latch, 'version', state[1], 'generation', state[2], 'opened', state[3], 'size', state[4], 'left', state[5])
end
local state = read_latch(latch)
if state[4] ~= '' then prolong(latch, keep_ms, false) end
return state
`,
};
