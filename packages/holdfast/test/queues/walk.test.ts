/**
 * Random walks over all scripts of a queue. After each step nothing is lost and nothing is in two places, nobody stands idle beside a
 * message, tokens rise, and what was given is what came next. Copies of earlier requests change nothing.
 */
import { expect, test } from "vitest";
import { gift, heard, keys, name, nextSeq, onEngine, open, type Process, redis } from "./queue-lab.js";

onEngine();

interface Holder {
  readonly process: Process;
  /** Its deliveries, those included that are over. */
  readonly handles: string[];
  isGone: boolean;
}

/** What Redis holds. */
interface Snapshot {
  readonly line: readonly string[];
  readonly again: readonly string[];
  readonly later: readonly string[];
  readonly away: readonly string[];
  readonly off: readonly string[];
  readonly dead: readonly string[];
  readonly idle: number;
  readonly isPaused: boolean;
  readonly overdue: readonly string[];
  readonly due: readonly string[];
  /** The suspects by their numbers, and where each is: a handle, what holds it back, or "-". */
  readonly suspects: ReadonlyMap<string, string>;
  /** The members of `later`. */
  readonly delayed: readonly string[];
}

/** Repeats itself for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

async function snapshot(): Promise<Snapshot> {
  const [about, line, off, away, idle, later, again, dead] = keys() as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const nowMs = await serverMs();
  const [words, returned, delayed, out, fields, letters, idlers, paused, overdue, due, suspects] =
    await Promise.all([
      redis.lrange(line, 0, -1),
      redis.zrange(again, 0, "-1"),
      redis.zrange(later, 0, "-1"),
      redis.zrange(away, 0, "-1"),
      redis.hkeys(off),
      redis.zrange(dead, 0, "-1"),
      redis.zcard(idle),
      redis.hget(about, "paused"),
      redis.zrangebyscore(away, 0, 1, "LIMIT", 0, 16),
      redis.zrangebyscore(later, 0, nowMs, "LIMIT", 0, 16),
      redis.hget(about, "suspects"),
    ]);
  return {
    line: words.filter((_, place) => place % 2 === 0),
    again: returned.map(numberOf),
    later: delayed.map(numberOf),
    delayed,
    away: out,
    off: fields,
    dead: letters,
    idle: idlers,
    isPaused: paused === "1",
    overdue,
    due,
    suspects: new Map(
      [...(suspects ?? "").matchAll(/(\S+) \d (\S+)/g)].map(([, id, at]) => [id, at] as [string, string]),
    ),
  };
}

async function serverMs(): Promise<number> {
  const [seconds, us] = await redis.time();
  return Number(seconds) * 1_000 + Number(us) / 1_000;
}

/** Those that are held back wait for the others, and not for the clock. */
async function holdSuspects(): Promise<void> {
  const later = `${keys()[0]}:later`;
  const nowMs = await serverMs();
  for (const at of (await snapshot()).suspects.values()) {
    const dueMs = await redis.zscore(later, at);
    if (dueMs !== null && Number(dueMs) > nowMs) await redis.zadd(later, "XX", nowMs + 60_000, at);
  }
}

function numberOf(member: string): string {
  return member.split(":")[1] as string;
}

const MAX_ATTEMPTS = 3;

class Walk {
  readonly #next: (below: number) => number;
  readonly #order: "fifo" | "lifo";
  readonly #holders: Holder[] = [];
  /** Numbers of messages that must be somewhere. */
  readonly #alive = new Set<string>();
  readonly #copies: (() => Promise<unknown>)[] = [];
  #lastToken = "";
  steps = "";

  constructor(seed: number, order: "fifo" | "lifo") {
    this.#next = random(seed);
    this.#order = order;
  }

  async run(count: number): Promise<void> {
    for (let place = 0; place < 3; place += 1) await this.#join();
    for (let step = 0; step < count; step += 1) {
      await this.#step();
      await holdSuspects();
      await this.#collect();
      await this.#check();
    }
  }

  async #join(): Promise<void> {
    const process = await open({ order: this.#order, maxAttempts: MAX_ATTEMPTS });
    this.#holders.push({ process, handles: [], isGone: false });
  }

  async #step(): Promise<void> {
    const holder = this.#holders[this.#next(this.#holders.length)] as Holder;
    const kind = this.#next(20);
    this.steps += ` ${kind}`;
    if (kind < 5) await this.#push(holder);
    else if (kind < 11) await this.#take(holder);
    else if (kind < 13) await this.#back(holder);
    else if (kind === 13) await holder.process.scripts.look(0);
    else if (kind === 14) await this.#leave(holder);
    else if (kind === 15) await this.#expire(3, "later");
    else if (kind === 16) await this.#expire(1, "away");
    else if (kind === 17)
      await (this.#next(2) ? holder.process.scripts.pause() : holder.process.scripts.resume());
    else if (kind === 18) await this.#rare(holder);
    else await this.#copies[this.#next(this.#copies.length)]?.();
  }

  async #push({ process }: Holder): Promise<void> {
    const count = 1 + this.#next(4);
    const isPlain = this.#next(2) === 0;
    const request = {
      seq: nextSeq(),
      bodies: Array.from({ length: count }, (_, place) => `j"${place} of ${count}"`),
      isWhole: false,
      extras: isPlain
        ? null
        : Array.from({ length: count }, () => ({
            delayMs: this.#next(2) * 60_000,
            dedupe: this.#next(3) === 0 ? { id: `${name} ${this.#next(5)}`, forMs: 60_000 } : null,
          })),
    };
    const answer = await process.scripts.push(request, 1_000);
    for (const { id, isNew } of answer.pushed) if (isNew) this.#alive.add(id);
    this.#copies.push(async () =>
      expect(await process.scripts.push(request, 1_000).catch(() => answer)).toEqual(answer),
    );
  }

  async #take(holder: Holder): Promise<void> {
    const { scripts } = holder.process;
    const acked = holder.handles.splice(0, this.#next(3));
    const before = await snapshot();
    const want = this.#next(5);
    const request = { seq: nextSeq(), acks: acked.map((handle) => ({ handle, result: "jdone" })), want };
    const taken = await scripts.take(request);
    expect(taken.late).toEqual(acked.filter((handle) => !before.away.includes(handle)));
    for (const handle of acked) if (before.away.includes(handle)) this.#alive.delete(numberOf(handle));
    const given = taken.given.map(({ handle }) => handle);
    const acks = new Set(acked);
    const next = this.#expected(before, acks).slice(0, before.isPaused ? 0 : want);
    expect(given.map(numberOf)).toEqual(this.#allowed(next, before, acks, holder));
    this.#note(holder, given);
    this.#copies.push(async () => {
      const copy = await scripts.take(request).catch(() => null);
      if (copy)
        expect([copy.late, copy.given]).toEqual([
          taken.late,
          given.length + acked.length > 0 ? [] : copy.given,
        ]);
      this.#note(holder, copy?.given.map(({ handle }) => handle) ?? []);
    });
  }

  /** What can be taken, in order, once overdue and due messages came back. */
  #expected(before: Snapshot, acked: ReadonlySet<string>): string[] {
    const overdue = before.overdue.filter((handle) => !acked.has(handle));
    const back = overdue.filter((handle) => Number(handle.split(":")[2]) < MAX_ATTEMPTS).map(numberOf);
    const due = [...this.#hurried(before, acked, overdue), ...before.due];
    const isFresh = (member: string) => member.endsWith(":0") && !before.suspects.has(numberOf(member));
    const tried = [...new Set(due)]
      .slice(0, 16)
      .filter((member) => !isFresh(member))
      .map(numberOf);
    const fresh = [...new Set(due)].slice(0, 16).filter(isFresh).map(numberOf);
    const again = [...before.again, ...back, ...tried].sort();
    const line = [...before.line, ...fresh];
    return this.#order === "fifo" ? [...again, ...line] : [...again.reverse(), ...line.reverse()];
  }

  /** The suspects that are held back and come now, because others are over: the first ones. */
  #hurried(
    { suspects, away, delayed }: Snapshot,
    acked: ReadonlySet<string>,
    overdue: readonly string[],
  ): string[] {
    const isSuspect = (handle: string): boolean => suspects.has(numberOf(handle)) && away.includes(handle);
    const over = [...acked, ...overdue].filter(isSuspect);
    const dead = overdue.filter(
      (handle) => isSuspect(handle) && Number(handle.split(":")[2]) >= MAX_ATTEMPTS,
    );
    const waiting = [...suspects].filter(([, at]) => delayed.includes(at)).sort();
    return waiting.slice(0, over.length + dead.length).map(([, at]) => at);
  }

  /** A process has one suspect at a time. */
  #allowed(
    next: readonly string[],
    { suspects, away, overdue }: Snapshot,
    acked: ReadonlySet<string>,
    { process }: Holder,
  ): string[] {
    const isHeld = (handle: string): boolean =>
      away.includes(handle) &&
      !acked.has(handle) &&
      !overdue.includes(handle) &&
      handle.endsWith(`:${process.id}`);
    let has = [...suspects.values()].some(isHeld);
    return next.filter((number) => {
      if (!suspects.has(number)) return true;
      const may = !has;
      has = true;
      return may;
    });
  }

  async #back(holder: Holder): Promise<void> {
    const handles = holder.handles.splice(0, 1 + this.#next(2));
    const before = await snapshot();
    const returns = handles.map((handle) => ({
      handle,
      delayMs: this.#next(3) === 0 ? 60_000 : 0,
      isAttempt: this.#next(3) > 0,
      reason: "boom",
    }));
    const seq = nextSeq();
    const late = await holder.process.scripts.back(seq, returns);
    expect(late).toEqual(handles.filter((handle) => !before.away.includes(handle)));
    this.#copies.push(async () =>
      expect(await holder.process.scripts.back(seq, returns).catch(() => late)).toEqual(late),
    );
  }

  async #leave(holder: Holder): Promise<void> {
    await this.#collect();
    const { away } = await snapshot();
    const given = (await holder.process.scripts.parcels.leave()).map(({ handle }) => handle);
    expect(given.sort()).toEqual(away.filter((handle) => handle.endsWith(`:${holder.process.id}`)).sort());
  }

  /** A deadline, or a delay, is over. */
  async #expire(most: number, part: "later" | "away"): Promise<void> {
    const key = `${keys()[0]}:${part}`;
    const members = await redis.zrange(key, 0, "-1");
    for (let count = 0; count < most && members.length > 0; count += 1)
      await redis.zadd(key, "XX", "1", members[this.#next(members.length)] as string);
  }

  async #rare(holder: Holder): Promise<void> {
    const kind = this.#next(5);
    this.steps += `.${kind}`;
    if (kind === 0) {
      await holder.process.operations.redrive(null);
    } else if (kind === 1) {
      const { line, again, later } = await snapshot();
      expect(await holder.process.scripts.drain()).toBe(line.length + again.length + later.length);
      for (const number of [...line, ...again, ...later]) this.#alive.delete(number);
    } else if (kind === 2) {
      await holder.process.scripts.parcels.extend(holder.handles, 30_000);
    } else if (this.#holders.length > 2) {
      await holder.process.deafen();
      holder.isGone = true;
      this.#holders.splice(this.#holders.indexOf(holder), 1);
      await this.#join();
      for (let round = 0; round < 2; round += 1) {
        const gone = (await redis.hget(keys()[0] as string, "gone")) ?? "";
        await redis.hset(keys()[0] as string, { looked: "1", gone: gone.replace(/:\d+/g, ":1") });
        await (this.#holders[0] as Holder).process.scripts.look(0);
      }
    }
  }

  /** Notes the gifts. */
  async #collect(): Promise<void> {
    const heardBy = async (holder: Holder): Promise<void> => {
      for (const text of await heard(holder.process))
        if (text.split(" ").length > 2) this.#note(holder, [gift(text).handle], false);
    };
    await Promise.all(this.#holders.map(heardBy));
  }

  #note(holder: Holder, handles: readonly string[], inOrder = true): void {
    for (const handle of handles) {
      const token = handle.split(":")[0] as string;
      if (inOrder) expect(token > this.#lastToken).toBe(true);
      if (token > this.#lastToken) this.#lastToken = token;
      expect(holder.handles).not.toContain(handle);
      holder.handles.push(handle);
    }
  }

  async #check(): Promise<void> {
    const { line, again, later, away, off, dead, idle, isPaused } = await snapshot();
    const places = [...line, ...again, ...later, ...away.map(numberOf), ...dead];
    expect([...places].sort()).toEqual([...this.#alive].sort());
    expect(off.map(numberOf).sort()).toEqual([...again, ...later, ...away.map(numberOf)].sort());
    expect(off.filter((field) => /^\d/.test(field)).sort()).toEqual([...away].sort());
    if (idle > 0 && !isPaused) expect([line, again]).toEqual([[], []]);
  }
}

test.each(Array.from({ length: 6 }, (_, seed) => seed))("walk %i", async (seed) => {
  const walk = new Walk(seed, seed % 3 === 2 ? "lifo" : "fifo");
  try {
    await walk.run(120);
  } catch (error) {
    console.error(`seed ${seed}:${walk.steps}`);
    throw error;
  }
});
