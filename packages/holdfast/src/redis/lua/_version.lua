--[[
Versions: numbers that rise with every change of an object, also after it was deleted, because they follow the server's clock. A
version is written as 16 digits, in microseconds; as text they sort as numbers do. Exact below 2^53; %.0f because %d stops at
2^31 where long has 32 bits. Clock: as _clock.lua reads it.
]]
-- A version above `previous`, which is nil, or the last version of the object as text.
local function next_version(previous, now)
  local version, last = tonumber(now), tonumber(previous or '0')
  if version <= last then version = last + 1 end -- guard: version rises
  if version > 9007199254000000 then error({ err = 'ERR the versions of this object are used up, delete its key' }) end
  return string.format('%016.0f', version)
end
