--[[
charge: asks limits whether so much may be taken, and takes it. Each limit is decided by its kind:

  rolling   a bucket that regenerates evenly: what was used becomes free again at `max` per `per`
  gcra      the same, with a room of its own for a burst
  window    a count that begins anew, `per` after the first that was taken in it
  sliding   every charge counts for exactly `per`: those of (now - per, now]
  lifetime  a count that never begins anew

KEYS[1..n]  the state of one limit and target, see below; within a group each key once. With 'back' after each a key of
            this call alone
ARGV[1]     how     string   'take': charged; 'ahead': and more of it if that fits; 'back': charged, but no second time
                             for a minute; 'look': not charged; 'set': what is used from now on is `cost`
ARGV[2]     size    integer  so many keys are a group: of each, in their order, every one is charged or none
ARGV[3..]           seven for each key, nine with 'ahead':
            kind    string   as above
            cost    integer  negative: given back, never below nothing used
            max     integer  so much in each `per`
            per     integer  us; for lifetime 0
            room    integer  rolling, gcra: so much fits at once
            unit    integer  us; rolling, gcra: time counts in units, so that room * per / unit is at most 2^52
            at      integer  us by the server's clock: when it happened; sliding: when what is given back was taken;
                             '' is now
            extra   integer  so much more is taken as far as it fits
            hold    integer  us; for so long the caller may wait until it uses the extra

Returns  {now, taken, remaining, retry, reset, ...}  four for each key; times in us
         taken      0: nothing; else 1, and what was taken of `extra`; -1: the group met an error
         remaining  what is free after this call; of a group that met an error, its text. A client may turn numbers
                    into text, so an error is known by its -1, never by its type
         retry      until `cost` fits; 0: it does; -1: never
         reset      until nothing is used any more; -1: never

Retry    a repeat charges again: for whom no answer came, it may have been charged, more than once if the client sent it
         again. It gives back once
Clock    the server's, read once. Where it was set back no more is admitted than was left, until it has caught up or for
         one `per`: what lies further ahead counts as of now
Cost     O(n); sliding: and of the charges that ended since the last, of those that a refusal waits for, and of a refund
         with `at` of all
]]
local how, size = ARGV[1], ARGV[2] + 0
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local format, floor, max_of, min_of = string.format, math.floor, math.max, math.min
local reply, plain = { now }, 0

--- @include "_plain.lua"

-- All arithmetic is on whole numbers below 2^53. What may be above is compared with what is not, which is exact as well.
local function ceil_div(a, b) return floor((a + b - 1) / b) end

-- a * b / c, rounded up; a below c, all below 2^45. By digits, for the product is not below 2^53.
local function mul_div(a, b, c)
  local quotient, rest, digit = 0, 0, 128 ^ 6
  repeat
    local part = rest * 128 + a * floor(b / digit)
    quotient, rest = quotient * 128 + floor(part / c), part % c
    b, digit = b % digit, digit / 128
  until digit < 1
  return rest > 0 and quotient + 1 or quotient
end

local function alien(key)
  error({ err = 'WRONGTYPE the key of this limit holds something else: ' .. key })
end

-- Each kind reads its state and says: what is taken, retry, remaining and reset once it is, remaining and reset as it
-- stands, how to write the one or the other, and whether what stands has to be written in any case.

--- @include "_bucket.lua"
--- @include "_window.lua"
--- @include "_lifetime.lua"
--- @include "_sliding.lua"

local kinds = { rolling = bucket, gcra = bucket, window = window, sliding = sliding, lifetime = lifetime }
local words = how == 'ahead' and 9 or 7
local is_back = how == 'back'
local count = is_back and #KEYS / 2 or #KEYS
local mark_ms = 60000

local function key_of(place) return KEYS[is_back and place * 2 - 1 or place] end

local function answer(place)
  local from = (place - 1) * words + 3
  local cost, at, extra, hold = tonumber(ARGV[from + 1]), ARGV[from + 6], nil, nil
  if words == 9 then extra, hold = tonumber(ARGV[from + 7]), tonumber(ARGV[from + 8]) end
  if is_back and not redis.call('SET', KEYS[place * 2], '', 'NX', 'PX', mark_ms) then cost = 0 end
  return kinds[ARGV[from]](key_of(place), cost, tonumber(ARGV[from + 2]), tonumber(ARGV[from + 3]),
    tonumber(ARGV[from + 4]), tonumber(ARGV[from + 5]), at ~= '' and tonumber(at) or nil, extra, hold)
end

-- Charges it, or leaves it as it stands, and says which.
local function settle(place, is_charged, taken, retry, remaining, reset, remaining_now, reset_now, write, is_moved)
  if is_charged then
    write(true)
  else
    remaining, reset = remaining_now, reset_now
    if how ~= 'look' then
      -- Nobody is to wait for a time that never comes: it counts from now on, a key that lost its end has one again, and
      -- one whose `per` is longer now lives as long as is promised.
      if is_moved then write(false)
      elseif reset > 0 then
        local life_ms = ceil_div(reset, 1000) + 1
        if redis.call('PTTL', key_of(place)) < life_ms - 1 then redis.call('PEXPIRE', key_of(place), life_ms) end
      end
    end
  end
  local to = place * 4 - 2
  reply[to], reply[to + 1], reply[to + 2], reply[to + 3] = taken, remaining, retry, reset
end

local function charge(first)
  local answers, is_charged = {}, how ~= 'look'
  for place = first, first + size - 1 do
    answers[place] = { answer(place) }
    is_charged = is_charged and answers[place][1] > 0
  end
  for place = first, first + size - 1 do settle(place, is_charged, unpack(answers[place])) end
end

for first = plain + 1, count, size do
  -- One key that holds something else is not to cost other groups their answers.
  local is_done, problem = pcall(charge, first)
  if not is_done then
    for place = first, first + size - 1 do
      local to = place * 4 - 2
      reply[to], reply[to + 1] = -1, type(problem) == 'table' and problem.err or tostring(problem)
      reply[to + 2], reply[to + 3] = 0, 0
    end
  end
end
return reply
