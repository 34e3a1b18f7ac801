--[[
window: the type window, a fixed window counter. The window opens with its first charge, not at a full hour, and lasts `per`.
The counter starts again at 0 when the window has ended. All charges of a window expire together.
]]
-- state: string "<count> <start>"
local function window(key, cost, max, per, _, _, at, extra)
  local state = redis.call('GET', key)
  local count, start, is_moved = 0, now, false
  if state then
    local was_count, was_start = string.match(state, '^(%d+) (%d+)$')
    if not was_count then foreign(key, state) end
    count, start = tonumber(was_count), tonumber(was_start)
    if start > now + per then start, is_moved = now, true end
    if now >= start + per then count, start = 0, now end
  end
  if how == 'set' then count, cost = min_of(max_of(cost, 0), max), 0 end
  if cost < 0 and at and at < start then cost = 0 end -- the cost expired with its own window
  local charged = max_of(count + cost, 0)
  local ok = cost <= 0 or charged <= max
  local taken = ok and 1 or 0
  if extra and ok and charged < max then
    local more = min_of(extra, max - charged)
    taken, charged = 1 + more, charged + more
  end
  local left = max_of(start + per - now, 1)
  local function write(is_taken)
    local used = is_taken and charged or count
    if used > 0 then
      redis.call('SET', key, format('%.0f %.0f', used, start), 'PX', ceil_div(left, 1000) + 1)
    elseif state then
      redis.call('DEL', key)
    end
  end
  local retry = ok and 0 or cost > max and -1 or left
  return taken, retry, max_of(max - charged, 0), charged > 0 and left or 0, max_of(max - count, 0),
    count > 0 and left or 0, write, is_moved
end
