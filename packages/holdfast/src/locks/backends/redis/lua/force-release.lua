--[[
force-release: take the lock from its holder, whoever that is, and give it to the first waiter in line when
there is one. The last token rises above all that the holder had reserved, so that what it still writes can
be refused; and it is told, by a message to its inbox.

KEYS[1]  lock     string   see _state.lua
KEYS[2]  line     zset     see _line.lua
KEYS[3]  waiters  hash
KEYS[4]  banned   zset
ARGV[1]  fence    integer  a token of the lease that is to end: its first one, or one that is reserved for a turn; 0: any lease ends
ARGV[2]  inboxes  string   what the channel of an inbox begins with; the owner record has the rest
ARGV[3]  elsewhere  0 or 1  see _line.lua

Returns  {0, now, held, expiry_ms}              nothing done: nobody holds it, or not with that token
         {1, now, held, expiry_ms, after, told}  taken from the holder that `held` names; `after` is the value
                                                 now; told: how many heard the message to the old holder
Raises   WRONGTYPE, ERR  another program owns one of the keys; nothing was written

Retry    tells of its own run: a second copy takes the lock from the next holder, unless fence is given: then it returns 0
Clock    the server's, read once
Cost     O(log n) in the length of the line, and O(1) per dead waiter passed over
]]
local lock, line, waiters, banned = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local fence, inboxes = ARGV[1], ARGV[2]
local keys = { lock = lock, line = line, waiters = waiters, banned = banned, elsewhere = ARGV[3] == '1' }

--- @include "../../../../redis/lua/_clock.lua"
--- @include "_token.lua"
--- @include "_state.lua"
--- @include "_line.lua"
local now = read_clock()
local state = read_lock(lock)
local held, expiry_ms = state.held or '', redis.call('PTTL', lock)
local wanted = fence ~= '0' and digits(lock, fence) or state.token
if state.left_ms == 0 or wanted < state.token or wanted > state.top then return {0, now, held, expiry_ms} end
check_line(keys, state.id)
redis.call('ZCARD', banned)
--- @include "../../../../redis/lua/_rights.lua"
--- @rights lock

local id = state.id
local ok, owner = pcall(cjson.decode, string.match(string.sub(held, 18), '^%S+ %d+ %d+ %d+ %d+ (.*)$') or '')
-- As in release: it may still stand in line itself.
drop_waiter(keys, id)
-- Written first, told second, as in a hand-over.
if not hand_over(keys, state, now) then
  state.top = add(lock, state.top, 1)
  free(lock, state, flag_now(keys), now)
end
local told = 0
if ok and type(owner) == 'table' and type(owner.inbox) == 'string' and owner.inbox ~= '' then
  told = send(inboxes .. owner.inbox, '', 'revoked ' .. id)
end
return {1, now, held, expiry_ms, redis.call('GET', lock) or '', told}
