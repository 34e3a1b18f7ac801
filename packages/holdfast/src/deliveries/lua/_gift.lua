--[[
A large body is fetched and not published: the server closes a subscriber whose buffer is full, and what it had would count as lost. A
process has at most 64 free places, so that at most 1 MiB is on its way to it.
]]
local MOST_PUBLISHED = 16384
-- The words of a gift.
local function gift(handle, body)
  if #body > MOST_PUBLISHED then return ' ' .. handle end
  return ' ' .. handle .. ' ' .. body
end
