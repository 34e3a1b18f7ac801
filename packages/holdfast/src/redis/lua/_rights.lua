--[[
The rights of the user who calls. A server asks for them command by command, and a script that it refuses in its middle has written half.
The line "@rights key" of a script says where nothing is written yet: scripts/lua.ts puts need() there, with each command that can follow.
]]
-- Raises where the user may not use one of these commands on the key. Redis 6 cannot be asked.
local function need(key, ...)
  if not redis.acl_check_cmd then return end
  for _, command in ipairs({ ... }) do
    if not redis.acl_check_cmd(command, command == 'PUBSUB' and 'NUMSUB' or key) then
      error({ err = 'NOPERM this user has no permissions to run the command ' .. command })
    end
  end
end
