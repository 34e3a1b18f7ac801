-- Whether a process listens at this server. A script that asks before its first write need not take back what it told: a message goes on
-- to replicas, and is heard there although this server counts nobody.
local function listens(channel)
  return redis.call('PUBSUB', 'NUMSUB', channel)[2] > 0
end
