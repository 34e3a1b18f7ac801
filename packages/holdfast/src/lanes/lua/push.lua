--[[
push: adds messages at the ends of their lanes. Where a process has free places and a lane may be served, messages are handed to it at once.

KEYS[1..7]   about, rec, ready, off, away, idle, later   see _lanes.lua
KEYS[8..9]   again, cancelled                            see _lanes.lua
ARGV[1]      name      of the lanes, without blanks
ARGV[2]      inboxes   see deliveries/lua/_deliveries.lua
ARGV[3]      reach     see deliveries/lua/_deliveries.lua
ARGV[4]      settings  see _lanes.lua
ARGV[5]      memory    of the caller, see deliveries/lua/_about.lua
ARGV[6]      seq       integer, see deliveries/lua/_about.lua
ARGV[7]      is_whole  0 or 1  1: where one finds no room, none is pushed; else those that find room
ARGV[8..2n]  messages  lane and body of each

Returns  "max_length/max_bytes/numbers"   numbers: of each message the difference of its number to the one before, which is 0 for the first; or
                             "f<length>": its lane has that many messages, and is full; or "b": its body is too large; or "f": it is refused
                             with another one; or "w": another program owns the list of its lane; with commas
         "forgotten"         a copy of a request whose answer is no longer known; nothing was changed
Raises   WRONGTYPE where another program owns a key; then nothing was changed

Retry    a second copy pushes nothing, and returns the same
Clock    the server's, read once
Cost     O(n)
]]
--- @include "../../deliveries/lua/_about.lua"
--- @include "../../deliveries/lua/_deliveries.lua"
--- @include "_lanes.lua"
--- @include "../../deliveries/lua/_deal.lua"
local q = {
  about = KEYS[1], rec = KEYS[2], ready = KEYS[3], off = KEYS[4], away = KEYS[5], idle = KEYS[6], later = KEYS[7], again = KEYS[8],
  cancelled = KEYS[9], verb = 'lanes', name = ARGV[1], inboxes = ARGV[2], reach = ARGV[3],
}
local settings, memory, seq, is_whole = ARGV[4], ARGV[5], ARGV[6], ARGV[7] == '1'
local first_message = 8
open_lanes(q, memory, settings)
local answer, is_forgotten = remembered(q, seq)
if answer then return answer end
if is_forgotten then return 'forgotten' end
--- @include "../../redis/lua/_rights.lua"
--- @rights q.about

-- What counts against the bound of a lane.
local function size_of(rec)
  return rec and length_of(q, rec) + rec.out_count + rec.returned + rec.later - rec.cancelled or 0
end

-- Lanes that have no room for all their messages, with their sizes; nil: all have room.
local function lanes_too_full()
  local counts, full = {}, nil
  for place = first_message, #ARGV, 2 do
    local name = ARGV[place]
    counts[name] = (counts[name] or 0) + 1
  end
  for name, count in pairs(counts) do
    local size = size_of(rec_of(q, name))
    if size + count > q.max_length then
      full = full or {}
      full[name] = size
    end
  end
  return full
end

local pushed = {}

-- Takes back what was pushed. Nothing else was written so far.
local function undo()
  for place = #pushed, 1, -1 do redis.call('RPOP', pushed[place]) end
end

-- Nil: something else is there.
local function append(name, body)
  local key = list_key(q, name)
  local length = redis.pcall('RPUSH', key, body)
  if type(length) == 'table' then
    if not is_whole and string.find(length.err, 'WRONGTYPE', 1, true) then return nil end
    undo()
    checked(key, length)
  end
  pushed[#pushed + 1], q.waiting = key, q.waiting + 1
  return length
end

-- A process that gave no options does not know how large a body may be.
local function is_too_large(body)
  return settings == '' and #body > q.max_bytes
end

-- Whether a message is too large that is pushed with others, or not at all.
local function has_too_large()
  for place = first_message + 1, #ARGV, 2 do
    if is_too_large(ARGV[place]) then return true end
  end
  return false
end

-- The number of the message; nil: what is said in its place.
local function add(name, body)
  if is_too_large(body) then return nil, 'b' end
  -- Most pushes meet a lane that has its turn anyway.
  local next_number = q.max_length == 0 and not q.recs[name] and string.match(q.texts[name] or '', '^(%d+) %S+ R')
  if next_number then
    local length = append(name, body)
    if not length then return nil, 'w' end
    return tonumber(next_number) + length - 1
  end
  local rec = rec_of(q, name) or change(q, name)
  if q.max_length > 0 then
    local size = size_of(rec)
    if size >= q.max_length then return nil, 'f' .. string.format('%.0f', size) end
  end
  local length = append(name, body)
  if not length then return nil, 'w' end
  rec.length = length
  if rec.state ~= 'R' and arrange(q, rec) then change(q, name) end
  return tonumber(rec.next) + rec.length - 1
end

local names, numbers, previous = {}, {}, nil
for place = first_message, #ARGV, 2 do names[#names + 1] = ARGV[place] end
load_recs(q, names)
local full = is_whole and (has_too_large() and {} or q.max_length > 0 and lanes_too_full())
for place = first_message, #ARGV, 2 do
  local number, refusal
  if full then
    refusal = full[ARGV[place]] and 'f' .. string.format('%.0f', full[ARGV[place]]) or is_too_large(ARGV[place + 1]) and 'b' or 'f'
  else
    number, refusal = add(ARGV[place], ARGV[place + 1])
  end
  if number then
    numbers[#numbers + 1] = previous and string.format('%.0f', number - previous) or digits(number)
    previous = number
  else
    numbers[#numbers + 1] = refusal
  end
end
deal(q)
if q.is_sooner then tell_one(q) end
answer = string.format('%.0f/%.0f/%s', q.max_length, q.max_bytes, table.concat(numbers, ','))
close_lanes(q, seq, answer)
return answer
