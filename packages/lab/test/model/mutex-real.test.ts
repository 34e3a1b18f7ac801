import { describe, expect, it, vi } from "vitest";
import { Action, isFault } from "../../src/model/mutex/actions.js";
import { Call, Of, Place } from "../../src/model/mutex/fields.js";
import { usual } from "../../src/model/mutex/mutants.js";
import { MutexModel } from "../../src/model/mutex/mutex.js";
import { MutexServerReal, stateOf } from "./mutex-server.js";

const WALKS = 150;
const STEPS = 60;
/** Longer, and the keys of a line in which nobody gave a sign of life would expire, which the model leaves out. */
const MOMENTS = 5;

let server: MutexServerReal;

// All of it is computing: on a machine that is busy it takes many times as long.
vi.setConfig({ testTimeout: 120_000 });

describe("the scripts of the mutex and their model", () => {
  /** Scripts in which one thing is changed: the walks must notice. */
  const changes: readonly [what: string, from: string, to: string][] = [
    ["no ban", "redis.call('ZSCORE', gone, id)", "false"],
    ["a renewal for anybody", "string.sub(held, 18, 18 + #id) == id .. ' '", "true"],
    ["no own id", "state.id == id then\n  renew", "false then\n  renew"],
    ["a take that does not look at the flag", "^%d+ $", "^%d+[ +]$"],
    ["a line without a flag", "raise_flag(keys, state, now)\nif not place", "if not place"],
    ["a grant that names another sign of life", "' ' .. candidate.beat", "' ' .. candidate.beat + 1"],
    [
      "the last in line first",
      "redis.call('ZRANGE', keys.line, 0, 0)",
      "redis.call('ZRANGE', keys.line, -1, -1)",
    ],
    ["a token again", "math.max(state.top + 1, tonumber(now)", "math.max(state.top"],
  ];

  it.each(changes)("differ when the scripts have %s", async (_, from, to) => {
    let changed = 0;
    server = await MutexServerReal.start((source) => {
      if (source.includes(from)) changed += 1;
      return source.replace(from, to);
    });
    expect(changed).toBeGreaterThan(0);
    expect(() => {
      for (let seed = 1; seed <= WALKS; seed++) walk(seed, () => {});
    }).toThrow();
  });

  it(`say the same and leave the same behind in ${WALKS} walks`, async () => {
    server = await MutexServerReal.start();
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= WALKS; seed++) walk(seed, (what) => seen.set(what, (seen.get(what) ?? 0) + 1));
    // take, ask, stand, beat, renew, release and ban each had each answer that they can have.
    const kinds = [
      "1:1",
      "1:2",
      "2:1",
      "2:2",
      "3:1",
      "3:3",
      "4:1",
      "4:3",
      "5:5",
      "5:6",
      "6:5",
      "7:5",
      "message",
    ];
    expect(kinds.filter((kind) => (seen.get(kind) ?? 0) < 5)).toEqual([]);
  });
});

function walk(seed: number, saw: (what: string) => void): void {
  const model = new MutexModel({ ...usual, acquires: [2, 2, 1], faults: 3, renewals: true });
  const { places } = model;
  server.clear();
  let random = seed;
  let now = new Uint8Array(model.fields.length);
  model.start(now, () => {});
  let moments = 0;
  for (let step = 0; step < STEPS; step++) {
    const to = now.slice();
    const open: { action: number; x: number; state: Uint8Array<ArrayBuffer> }[] = [];
    model.steps(now, to, (action, x) => {
      const inReach = action !== Action.refuse && (action !== Action.tick || moments < MOMENTS);
      if (inReach) open.push({ action, x, state: to.slice() });
      to.set(now);
    });
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    // Most of what goes wrong is left for later: a walk in which all of it happens at once is soon over.
    const well = open.filter(({ action }) => !isFault(action) && action !== Action.tick);
    const pool = well.length > 0 && random >>> 28 < 12 ? well : open;
    const next = pool[(random >>> 8) % Math.max(pool.length, 1)];
    if (!next) return;
    const { action, x, state } = next;
    const where = `seed ${seed}, step ${step}: ${model.words(action, x, 0, now, state)}`;
    if (action === Action.tick) moments += 1;
    follow(action, x, now, state, where, saw, model);
    expect([where, server.state()]).toEqual([where, stateOf(state, places)]);
    now = state;
    model.canonical(now);
  }
}

function follow(
  action: number,
  x: number,
  before: Uint8Array,
  after: Uint8Array,
  where: string,
  saw: (what: string) => void,
  { places }: MutexModel,
): void {
  if (action === Action.tick) server.tick();
  else if (action === Action.subscribe) server.subscribe(x);
  else if (action === Action.deafen || action === Action.crash) server.deafen(x);
  else if (action === Action.run || action === Action.copy) {
    const at = places.blockOf(x);
    const isCopy = action === Action.copy;
    const call = before[at + (isCopy ? Of.copy : Of.call)] as number;
    const age = before[at + (isCopy ? Of.copyAge : Of.age)] as number;
    const top = server.tokens()[1];
    server.grants();
    const answer = server.run(x, places.owners[x] as number, call, age);
    const isRelease = call >= Call.release;
    if (!isCopy && !isRelease) expect([where, answer]).toEqual([where, after[at + Of.answer]]);
    saw(`${call}:${answer}`);
    if ((after[Place.top] as number) > (before[Place.top] as number)) {
      expect([where, server.tokens()[1] > top]).toEqual([where, true]);
    }
    told(before, after, where, saw, places);
  }
}

/** Who is told, and by which sign of life. */
function told(
  before: Uint8Array,
  after: Uint8Array,
  where: string,
  saw: (what: string) => void,
  places: MutexModel["places"],
): void {
  const expected = places.owners.flatMap((_, request) => {
    const at = places.blockOf(request);
    const isNew = after[at + Of.message] !== 0 && after[at + Of.message] !== before[at + Of.message];
    return isNew ? [{ request, age: after[at + Of.messageAge] as number }] : [];
  });
  const heard = server.grants().map(({ request, age }) => ({ request, age: Math.min(age, usual.ttl) }));
  expect([where, heard]).toEqual([where, expected]);
  for (const _ of heard) saw("message");
}
