/**
 * The scripts. Each reads or writes at one moment; each argument is one JSON text. Rules are not here but in ../domain:
 * a script refuses what the rules did not foresee, because something moved between their reading and their writing.
 */

/** Refuses holders that were overtaken. A fence is 20 digits, a blank, and the id of its holder. */
const FENCES = `
local function is_stale(key, fences)
  for _, one in ipairs(fences) do
    local seen = redis.call('HGET', key, one.name)
    if seen then
      local token = string.sub(seen, 1, 20)
      if token > one.token or (token == one.token and string.sub(seen, 22) ~= one.id) then return true end
    end
  end
  return false
end
local function enter(key, fences)
  for _, one in ipairs(fences) do redis.call('HSET', key, one.name, one.token .. ' ' .. one.id) end
end
local function clock()
  local time = redis.call('TIME')
  return time[1] .. string.sub('00000' .. time[2], -6)
end
`;

export const LOOK_PARTS = ["meta", "team-of", "teams", "choices", "outcomes", "tickets", "fences"] as const;

/** ARGV[1] student id. Returns clock, meta, team id, team, "room:bed" of each member, outcome, ticket. */
export const LOOK = `${FENCES}
local meta, team_of, teams, choices = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id = redis.call('HGET', team_of, ARGV[1])
local about = redis.call('HGETALL', meta)
if not id then return { clock(), about } end
local team = redis.call('HGET', teams, id)
local places = {}
for at, member in ipairs(cjson.decode(team).members) do places[at] = redis.call('HGET', choices, member) or '' end
return { clock(), about, id, team, places, redis.call('HGET', KEYS[5], id) or '', redis.call('HGET', KEYS[6], id) or '' }
`;

export const COMMIT_PARTS = [
  "meta",
  "fences",
  "teams",
  "choices",
  "beds",
  "free",
  "outcomes",
  "contested",
  "counts",
  "log",
  "recent",
] as const;

/**
 * Writes a decision: all of it or nothing.
 * ARGV[1] { requestId, teamId, teamVersion, batchVersion, fences, had, give, leave, passedOver, count }, where `had` are the beds of the
 * members as they were read; ARGV[2] the outcome as JSON, open at its end.
 * Returns { "done" | "repeat", outcome } or { "moved" | "taken" | "stale" }: nothing was written.
 */
export const COMMIT = `${FENCES}
local meta, fences, teams, choices, beds, free, outcomes = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local said = cjson.decode(ARGV[1])
local recent = cjson.decode(redis.call('HGET', KEYS[11], said.teamId) or '[]')
for _, before in ipairs(recent) do
  if cjson.decode(before).requestId == said.requestId then return { 'repeat', before } end
end
local function refused(why)
  redis.call('HINCRBY', KEYS[9], 'retries', 1)
  return { why }
end
if redis.call('HGET', meta, 'version') ~= said.batchVersion then return refused('moved') end
local team = redis.call('HGET', teams, said.teamId)
if not team or cjson.decode(team).version ~= said.teamVersion then return refused('moved') end
if is_stale(fences, said.fences) then return refused('stale') end
local now = clock()
local now_ms = string.sub(now, 1, -4)
if #said.give + #said.leave > 0 then
  local about = redis.call('HMGET', meta, 'startsAtMs', 'endsAtMs', 'archived')
  if tonumber(now_ms) < tonumber(about[1]) or tonumber(now_ms) >= tonumber(about[2]) or about[3] == 'yes' then return refused('moved') end
end
for _, one in ipairs(said.had) do
  if (redis.call('HGET', choices, one.studentId) or '') ~= one.bed then return refused('moved') end
end
local leaving = {}
for _, place in ipairs(said.leave) do leaving[place.roomId .. ':' .. place.bed] = true end
for _, place in ipairs(said.give) do
  local bed = place.roomId .. ':' .. place.bed
  if not leaving[bed] and redis.call('HEXISTS', beds, bed) == 1 then return refused('taken') end
end
enter(fences, said.fences)
for _, place in ipairs(said.leave) do
  redis.call('HDEL', choices, place.studentId)
  redis.call('HDEL', beds, place.roomId .. ':' .. place.bed)
  redis.call('HINCRBY', free, place.roomId, 1)
end
for _, place in ipairs(said.give) do
  local bed = place.roomId .. ':' .. place.bed
  redis.call('HSET', choices, place.studentId, bed)
  redis.call('HSET', beds, bed, place.studentId)
  redis.call('HINCRBY', free, place.roomId, -1)
end
for _, room in ipairs(said.passedOver) do redis.call('ZINCRBY', KEYS[8], 1, room) end
if said.count then redis.call('HINCRBY', KEYS[9], said.count, 1) end
local outcome = ARGV[2] .. ',"atMs":' .. now_ms .. ',"version":"' .. now .. '"}'
redis.call('HSET', outcomes, said.teamId, outcome)
recent[#recent + 1] = outcome
if #recent > 6 then table.remove(recent, 1) end
redis.call('HSET', KEYS[11], said.teamId, cjson.encode(recent))
redis.call('XADD', KEYS[10], 'MAXLEN', '~', '5000', '*', 'team', said.teamId, 'outcome', outcome)
return { 'done', outcome }
`;

export const CHANGE_TEAMS_PARTS = ["teams", "team-of", "invitations", "choices", "fences"] as const;

/**
 * Changes teams and invitations: all of it or nothing.
 * ARGV[1] { fences, expectTeams, expectInvitation, withoutRoom, setTeams, dropTeams, setTeamOf, addInvitations, dropInvitations }
 * Returns "done", "moved" (a team or the invitation is not as it was read), "has-room" or "stale".
 */
export const CHANGE_TEAMS = `${FENCES}
local teams, team_of, invitations, choices, fences = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local said = cjson.decode(ARGV[1])
if is_stale(fences, said.fences) then return 'stale' end
for _, one in ipairs(said.expectTeams) do
  local team = redis.call('HGET', teams, one.id)
  if not team or cjson.decode(team).version ~= one.version then return 'moved' end
end
if said.expectInvitation and redis.call('HEXISTS', invitations, said.expectInvitation) == 0 then return 'moved' end
for _, student in ipairs(said.withoutRoom) do
  if redis.call('HEXISTS', choices, student) == 1 then return 'has-room' end
end
enter(fences, said.fences)
local now = clock()
for _, one in ipairs(said.dropTeams) do redis.call('HDEL', teams, one) end
for _, one in ipairs(said.setTeams) do
  redis.call('HSET', teams, one.id, cjson.encode({ members = one.members, version = now }))
  for _, member in ipairs(one.members) do redis.call('HSET', team_of, member, one.id) end
end
for _, one in ipairs(said.dropInvitations) do redis.call('HDEL', invitations, one) end
for _, one in ipairs(said.addInvitations) do
  redis.call('HSET', invitations, one.id, string.format('{"id":%s,"from":%s,"fromTeam":%s,"to":%s,"atMs":%s}', cjson.encode(one.id),
    cjson.encode(one.from), cjson.encode(one.fromTeam), cjson.encode(one.to), string.sub(now, 1, -4)))
end
return 'done'
`;

export const EDIT_PARTS = [
  "meta",
  "fences",
  "rooms",
  "free",
  "people",
  "team-of",
  "teams",
  "choices",
  "beds",
  "invitations",
] as const;

/**
 * Edits a batch under its fence: all of it or nothing. Students who come are teams of one.
 * ARGV[1] { fences, meta, addRooms, dropRooms, addPeople, dropPeople }
 * Returns { "done", version }, { "stale" }, { "room-taken", room } or { "has-room", student }.
 */
export const EDIT = `${FENCES}
local meta, fences, rooms, free, people, team_of, teams, choices = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local said = cjson.decode(ARGV[1])
if is_stale(fences, said.fences) then return { 'stale' } end
for _, id in ipairs(said.dropRooms) do
  local room = redis.call('HGET', rooms, id)
  if room and tonumber(redis.call('HGET', free, id)) ~= cjson.decode(room).beds then return { 'room-taken', id } end
end
for _, id in ipairs(said.dropPeople) do
  if redis.call('HEXISTS', choices, id) == 1 then return { 'has-room', id } end
end
enter(fences, said.fences)
-- Processes keep what they read by its version, which rises whatever the clock does.
local now = string.format('%.0f', math.max(tonumber(clock()), tonumber(redis.call('HGET', meta, 'version') or 0) + 1))
for name, value in pairs(said.meta) do redis.call('HSET', meta, name, value) end
redis.call('HSET', meta, 'version', now)
for _, room in ipairs(said.addRooms) do
  if redis.call('HSETNX', rooms, room.id, cjson.encode({ building = room.building, name = room.name, beds = room.beds })) == 1 then
    redis.call('HSET', free, room.id, room.beds)
  end
end
for _, id in ipairs(said.dropRooms) do
  redis.call('HDEL', rooms, id)
  redis.call('HDEL', free, id)
end
for _, person in ipairs(said.addPeople) do
  if redis.call('HSETNX', people, person.id, person.name) == 1 then
    local team = 't' .. person.id
    if redis.call('HEXISTS', teams, team) == 1 then team = team .. '.' .. now end
    redis.call('HSET', team_of, person.id, team)
    redis.call('HSET', teams, team, cjson.encode({ members = { person.id }, version = now }))
  end
end
local pending = #said.dropPeople > 0 and redis.call('HVALS', KEYS[10]) or {}
for _, id in ipairs(said.dropPeople) do
  for _, text in ipairs(pending) do
    local one = cjson.decode(text)
    if one.from.id == id or one.to.id == id then redis.call('HDEL', KEYS[10], one.id) end
  end
  local team = redis.call('HGET', team_of, id)
  if team then
    local rest = {}
    for _, member in ipairs(cjson.decode(redis.call('HGET', teams, team)).members) do
      if member ~= id then rest[#rest + 1] = member end
    end
    if #rest == 0 then redis.call('HDEL', teams, team)
    else redis.call('HSET', teams, team, cjson.encode({ members = rest, version = now })) end
    redis.call('HDEL', team_of, id)
    redis.call('HDEL', people, id)
  end
end
return { 'done', now }
`;
