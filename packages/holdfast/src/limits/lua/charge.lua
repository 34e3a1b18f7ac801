--[[
charge: decides whether limits admit costs, and takes the costs that they admit. Each limit is decided by its type:

  rolling   a bucket that regenerates evenly, `max` in each `per`: _bucket.lua
  gcra      the same, with a burst of its own
  window    a count that begins again `per` after its first charge: _window.lua
  sliding   a log, in which each charge counts for exactly `per`, over (now - per, now]: _sliding.lua
  lifetime  a count that never begins again: _lifetime.lua

KEYS[1..n]  the state of one limit and target, as the file of its type says. Within a group each key once. With 'back' a
            marker key follows each of them, which belongs to this call alone
ARGV[1]     how     string   'take': take the cost; 'ahead': and of `extra` as much as fits; 'back': refund the cost, once
                             within a minute for each marker; 'look': take nothing; 'set': the amount used becomes `cost`
ARGV[2]     size    integer  the number of keys in a group. Of each group, in their order, all costs are taken or none
ARGV[3..]           seven for each key, nine with 'ahead':
            type    string   as above
            cost    integer  negative: a refund, of at most the amount used
            max     integer  the cost admitted in each `per`
            per     integer  in µs; 0 for lifetime
            burst   integer  rolling, gcra: the cost admitted at once
            unit    integer  in µs; rolling, gcra: the step of time, so that burst * per / unit is at most 2^52
            at      integer  in µs by the server's clock: when it happened; for a refund of a sliding limit, when the cost
                             was taken; '' is now
            extra   integer  the cost to take ahead, as far as it fits
            hold    integer  in µs: how long the caller may keep the extra before it uses it

A call that takes a single cost, now, has two words: the cost, and "max burst type per unit".

Returns  {now, taken, remaining, retry, reset, ...}  four for each key; times in µs
         taken      0: nothing was taken; 1 and the part of `extra` that was taken; -1: the group met an error
         remaining  the cost that is free after this call. For a group that met an error, the text of it. A client may
                    turn numbers into text, so an error is known by its -1, never by its type
         retry      until `cost` fits; 0: it fits; -1: never
         reset      until nothing is used; -1: never
         "now remaining reset" in answer to two words, where _plain.lua took the cost

Retry    tells of its own run: a second copy charges again. So a charge without an answer may have been made, more than
         once where the client sent it again. A second copy of a refund changes nothing
Clock    the server's, read once. Where it was set back, no more is admitted than was left, until it has caught up or for
         one `per`: a state from the future counts as of now
Cost     O(n). Sliding also: of the charges that have expired since the last call, of those that a refusal waits for, and
         of all charges for a refund with `at`
]]
-- The two words of a lone cost, told as the others are.
local args, is_lone = ARGV, #ARGV == 2
if is_lone then
  local max, burst, kind, per, unit = string.match(ARGV[2], '^(%d+) (%d+) (%l+) (%d+) (%d+)$')
  args = { 'take', '1', kind, ARGV[1], max, per, burst, unit, '' }
end
local how, size = args[1], args[2] + 0
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local format, floor, max_of, min_of = string.format, math.floor, math.max, math.min
local reply, plain = { now }, 0

--- @include "_plain.lua"

-- All arithmetic is on whole numbers below 2^53. A larger one is only compared with a smaller one, which is exact too.
local function ceil_div(a, b) return floor((a + b - 1) / b) end

-- a * b / c, rounded up; a below c, all below 2^45. It goes digit by digit, because the product may be above 2^53.
local function mul_div(a, b, c)
  local quotient, rest, digit = 0, 0, 128 ^ 6
  repeat
    local part = rest * 128 + a * floor(b / digit)
    quotient, rest = quotient * 128 + floor(part / c), part % c
    b, digit = b % digit, digit / 128
  until digit < 1
  return rest > 0 and quotient + 1 or quotient
end

--- @include "../../redis/lua/_foreign.lua"
--- @include "../../redis/lua/_rights.lua"

-- The function of a type reads the state and returns: taken, retry; remaining and reset if the cost is taken; remaining
-- and reset if it is not; a function that writes either state; whether the state has to be written in any case.

--- @include "_bucket.lua"
--- @include "_window.lua"
--- @include "_lifetime.lua"
--- @include "_sliding.lua"

local types = { rolling = bucket, gcra = bucket, window = window, sliding = sliding, lifetime = lifetime }
local words = how == 'ahead' and 9 or 7
local is_back = how == 'back'
local count = is_back and #KEYS / 2 or #KEYS
local mark_ms = 60000

local function key_of(place) return KEYS[is_back and place * 2 - 1 or place] end

local function answer(place)
  local from = (place - 1) * words + 3
  local cost, at, extra, hold = tonumber(args[from + 1]), args[from + 6], nil, nil
  if words == 9 then extra, hold = tonumber(args[from + 7]), tonumber(args[from + 8]) end
  if is_back and redis.call('EXISTS', KEYS[place * 2]) == 1 then cost = 0 end
  return types[args[from]](key_of(place), cost, tonumber(args[from + 2]), tonumber(args[from + 3]),
    tonumber(args[from + 4]), tonumber(args[from + 5]), at ~= '' and tonumber(at) or nil, extra, hold)
end

-- Writes the charge, or leaves the state, and puts the answer into the reply.
local function settle(place, is_charged, taken, retry, remaining, reset, remaining_now, reset_now, write, is_moved)
  if is_back then redis.call('SET', KEYS[place * 2], '', 'NX', 'PX', mark_ms) end
  if is_charged then
    write(true)
  else
    remaining, reset = remaining_now, reset_now
    if how ~= 'look' then
      -- A refusal must not promise a time that never comes. So a state from the future counts from now on, a key that
      -- lost its expiry gets one again, also if nothing is used any more, and a key whose `per` became longer lives as long
      -- as the answer says.
      if is_moved then write(false)
      elseif reset >= 0 then
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
  -- One write is all or nothing by itself.
  if size > 1 or is_back or args[(first - 1) * words + 3] == 'sliding' then
    need(key_of(first), 'DEL', 'LPOP', 'LPUSH', 'LTRIM', 'PEXPIRE', 'PTTL', 'RPOP', 'RPUSH', 'SET')
  end
  for place = first, first + size - 1 do settle(place, is_charged, unpack(answers[place])) end
end

for first = plain + 1, count, size do
  -- A key that holds something else must not cost other groups their answers.
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
