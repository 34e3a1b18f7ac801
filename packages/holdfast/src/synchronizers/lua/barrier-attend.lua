--[[
barrier-attend: state which arrivals of a process wait at a barrier now. New ones arrive, those that wait are renewed, and the
generation trips when the parties are complete. The first use gives the barrier its size.

KEYS[1..5]  barrier, leases, arrivals, tripped, data  see _barrier.lua
KEYS[6..n]  withdrawn  string for each arrival: it gave up, and a late copy of its request must not bring it back
ARGV[1]  size      integer  how many parties the caller expects
ARGV[2]  ttl_ms    integer  of the lease of an arrival
ARGV[3]  keep_ms   integer  life of the barrier from now on; 0: for ever
ARGV[4]  floor     16 digits: the last generation that this process has passed
ARGV[5]  not_after 16 digits: when nobody waits for the reply any more, on the server's clock as far as known: nobody arrives then
ARGV[6]  process   string   id of this process
ARGV[7]  inboxes   string   the channel of an inbox, without the id of its process
ARGV[8]  listening 0 or 1   the inbox of this process is subscribed
ARGV[9]  elsewhere 0 or 1   1: a process may listen at a server that this script does not see
ARGV[10] owner     string   JSON, for people
ARGV[11..n]  four for each arrival: its id; a generation, 16 digits; 1 if it waits in that one, 0 if it has not arrived yet and
             that one is the present one as far as known, zeros: unknown; what it brings, or nothing

Returns  {1, generation, now, again, …}  the present generation, the server's clock, ms until it is known of all that have arrived
                                         whether they live (0: nobody asks again for that), and for each arrival
           {'w'}                            it waits in the present generation
           {'t', generation, index, data}   it was in a generation that tripped, at this place in order of arrival, from 0;
                                            data is what each place brought, or empty when none brought anything
           {'l'}                            the generation in which it waited is over, and is not known to have had it
           {'x'}                            it gave up before
           {'?'}                            not arrived: ask again, with this generation and by this clock
         {0, size}                    the barrier has another size; nothing was written
Raises   WRONGTYPE                    another program owns a key; nothing was written

Retry    safe for a minute: who waits is renewed, who tripped gets the same answer
Clock    the server's, read once
Cost     O(log n) for each arrival, O(n) for those that wait, and O(n log n) for a trip
]]
local size, ttl_ms, keep_ms, floor, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local process, inboxes, listening, elsewhere, owner = ARGV[6], ARGV[7], ARGV[8], ARGV[9] == '1', ARGV[10]

--- @include "../../redis/lua/_clock.lua"
--- @include "../../redis/lua/_version.lua"
--- @include "../../redis/lua/_message.lua"
--- @include "_fields.lua"
--- @include "_barrier.lua"
local now = read_clock()
local keys = keys_of(KEYS)
local state = read_barrier(keys)
if state.size and state.size ~= size then return {0, tonumber(state.size)} end
local is_new = not state.size

local function begin_generation()
  state.generation = next_version(math.max(state.version, floor), now)
  state.version = state.generation
end

local function write_state()
  redis.call('HSET', keys.barrier, 'version', state.version, 'size', size, 'generation', state.generation,
    'since', state.since, 'ticket', string.format('%.0f', state.ticket))
end

--- @include "../../redis/lua/_rights.lua"
--- @rights keys.barrier
-- A generation that this process has passed cannot be the present one: the server has lost what came after.
if is_new or state.generation <= floor then
  redis.call('DEL', keys.leases, keys.arrivals, keys.tripped, keys.data)
  begin_generation()
  state.since = state.generation
  write_state()
end
drop_expired(keys, now)
drop_astray(keys, now, ttl_ms)

-- Whether nobody listens for a party whose inbox was subscribed, and since when: what its entry says from now on of listening.
local function heard_now(id, listening_before)
  local heard = redis.pcall('PUBSUB', 'NUMSUB', inboxes .. id)
  if heard.err or heard[2] > 0 then return '1' end
  -- A clock that was set back begins anew.
  return (listening_before == '1' or listening_before > now) and now or listening_before
end

-- Drops those of other processes that are gone. Returns since when the longest of the others is undecided, us; nil: none is.
local function drop_gone()
  local undecided
  for _, arrival in ipairs(elsewhere and {} or redis.call('ZRANGE', keys.leases, 0, -1)) do
    local id = string.match(arrival, '^(.*)%.%d+$')
    local entry = id ~= process and redis.call('HGET', keys.arrivals, arrival) or ''
    local head, before, rest = string.match(entry, '^(%d+ %d+ )(%d+)( .*)$')
    if before and before ~= '0' then
      local after = heard_now(id, before)
      if after ~= '1' and now - after >= GONE_US then
        drop_arrival(keys, arrival)
      else
        if after ~= before then redis.call('HSET', keys.arrivals, arrival, head .. after .. rest) end
        if after ~= '1' then undecided = math.min(undecided or math.huge, tonumber(after)) end
      end
    end
  end
  return undecided
end

-- Forgets generations that tripped more than a minute ago. One trips when the next begins.
local function prune()
  local before = string.format('%.0f', now - REMEMBERED_MS * 1000)
  local last = redis.call('ZRANGE', keys.tripped, before, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1)[1]
  local oldest = last and string.match(last, '^%d+')
  local most = math.max(math.floor(MOST_REMEMBERED / size), 2)
  local drop = redis.call('ZRANGE', keys.tripped, 0, -1 - most)
  if oldest then
    for _, entry in ipairs(redis.call('ZRANGE', keys.tripped, '-inf', '(' .. oldest, 'BYSCORE')) do drop[#drop + 1] = entry end
  end
  for _, entry in ipairs(drop) do
    redis.call('ZREM', keys.tripped, entry)
    local has_data, rest = string.match(entry, '^%d+ (%d) (.*)$')
    if has_data == '1' then
      for arrival in string.gmatch(rest, '%S+') do redis.call('HDEL', keys.data, arrival) end
    end
  end
end

-- What the processes hear, each of its own: "tripped <generation> <has_data> <arrival> <index> … ".
local function messages_to(present, has_data)
  local ids, messages = {}, {}
  for place, arrival in ipairs(present) do
    local id = string.match(arrival, '^(.*)%.%d+$')
    if not messages[id] then
      ids[#ids + 1] = id
      messages[id] = 'tripped ' .. state.generation .. ' ' .. has_data
    end
    messages[id] = messages[id] .. ' ' .. arrival .. ' ' .. place - 1
  end
  return ids, messages
end

local function trip()
  local all = redis.call('ZRANGE', keys.leases, 0, -1)
  local tickets, has_data = {}, '0'
  for _, arrival in ipairs(all) do
    tickets[arrival] = tonumber(string.match(redis.call('HGET', keys.arrivals, arrival) or '', '^%d+') or '0')
  end
  table.sort(all, function(a, b) return tickets[a] < tickets[b] end)
  -- More may have come while one of them was undecided.
  local present = { unpack(all, 1, tonumber(size)) }
  for _, arrival in ipairs(present) do
    if redis.call('HEXISTS', keys.data, arrival) == 1 then has_data = '1' end
  end
  local told = state.generation .. ' ' .. has_data .. ' ' .. table.concat(present, ' ') .. ' '
  local ids, messages = messages_to(present, has_data)
  redis.call('ZADD', keys.tripped, state.generation, told)
  redis.call('ZREM', keys.leases, unpack(present))
  redis.call('HDEL', keys.arrivals, unpack(present))
  begin_generation()
  write_state()
  prune()
  for _, id in ipairs(ids) do send(inboxes .. id, '', messages[id]) end
end

local again_ms = 0

-- Trips the generation, unless somebody may be gone.
local function complete()
  if redis.call('ZCARD', keys.leases) < tonumber(size) then return end
  local undecided = drop_gone()
  again_ms = undecided and math.ceil((undecided + GONE_US - now) / 1000) or 0
  if undecided then return end
  if redis.call('ZCARD', keys.leases) >= tonumber(size) then trip() end -- guard: a generation trips with all its parties
end

local function arrive(arrival, brought)
  state.ticket = state.ticket + 1
  redis.call('ZADD', keys.leases, string.format('%.0f', now + ttl_ms * 1000), arrival)
  redis.call('HSET', keys.arrivals, arrival,
    string.format('%.0f', state.ticket) .. ' ' .. ttl_ms .. ' ' .. listening .. ' ' .. owner)
  if brought ~= '' then redis.call('HSET', keys.data, arrival, brought) end
  write_state()
  complete()
end

local function renew(arrival)
  redis.call('ZADD', keys.leases, string.format('%.0f', now + ttl_ms * 1000), arrival)
  local entry = redis.call('HGET', keys.arrivals, arrival)
  local ticket = entry and string.match(entry, '^%d+') or '0'
  redis.call('HSET', keys.arrivals, arrival, ticket .. ' ' .. ttl_ms .. ' ' .. listening .. ' ' .. owner)
end

-- What becomes of an arrival; nil: it waits, or tripped just now.
local function attend(withdrawn, arrival, generation, waits, brought)
  if redis.call('EXISTS', withdrawn) == 1 then return { 'x' } end
  if redis.call('ZSCORE', keys.leases, arrival) then return renew(arrival) end
  if generation == NEVER then return { '?' } end
  local before = find_trip(keys, generation, arrival)
  if before then return before end
  -- Its lease expired, and the others went on without it. Of generations from before the barrier began nobody went on.
  if waits and generation < state.generation and generation >= state.since then return { 'l' } end
  -- A request that was under way for long would let the others go on with a party that has given up.
  if now > not_after then return { '?' } end
  return arrive(arrival, brought)
end

local verdicts, first_generation = {}, state.generation
for place = 6, #KEYS do
  local at = 11 + (place - 6) * 4
  verdicts[place] = attend(KEYS[place], ARGV[at], ARGV[at + 1], ARGV[at + 2] == '1', ARGV[at + 3]) or false
end
-- Of those that were undecided before.
complete()

prolong(keys.barrier, keep_ms, is_new)
local brief_ms = string.format('%.0f', math.max(ttl_ms * 2, REMEMBERED_MS * 2))
for _, key in ipairs({ keys.leases, keys.arrivals, keys.tripped, keys.data }) do prolong(key, brief_ms, redis.call('PTTL', key) == -1) end

local reply = { 1, state.generation, now, again_ms }
for place = 6, #KEYS do
  local arrival = ARGV[11 + (place - 6) * 4]
  -- A later arrival of the same call may have tripped the generation.
  reply[#reply + 1] = verdicts[place] or find_trip(keys, first_generation, arrival) or { 'w' }
end
return reply
