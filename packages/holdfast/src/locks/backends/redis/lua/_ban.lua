-- Refuses the id for this long from now on, because a copy of its request may still be on the way. keys.banned is a zset: id that gave up ->
-- end of its ban in ms. Whoever calls this has raised the flag of the name. Needs text() of _token.lua.
local function ban(keys, now, id, ban_ms)
  local now_ms = math.floor(tonumber(now) / 1000)
  redis.call('ZREMRANGEBYSCORE', keys.banned, '-inf', now_ms)
  redis.call('ZADD', keys.banned, text(now_ms + ban_ms), id)
  if redis.call('PTTL', keys.banned) < ban_ms then
    redis.call('PEXPIRE', keys.banned, text(ban_ms))
  end
end
