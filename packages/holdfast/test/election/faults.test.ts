/** What an election does when its store or its record fail, with the real ones behind doors that the test shuts. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ManualClock, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { Election, type ElectionParts } from "../../src/election/election.js";
import type { ElectionState } from "../../src/election/inspection.js";
import type { Leadership } from "../../src/election/leadership.js";
import { IndeterminateError, LeaseLostError, ServerError } from "../../src/errors.js";
import type { Holder, LockBackend, StoreClaim, Transfer } from "../../src/locks/backend.js";
import { RedisLocks } from "../../src/locks/backends/redis/redis-locks.js";
import { Locks } from "../../src/locks/locks.js";
import type { VersionedRecord } from "../../src/records/record.js";
import { RecordStore } from "../../src/records/record-store.js";
import { Records } from "../../src/records/records.js";
import { detectClient } from "../../src/redis/clients/detect.js";
import { Connection } from "../../src/redis/connection.js";
import { RedisContext } from "../../src/redis/context.js";
import { WatchedStates } from "../../src/redis/watched-state.js";
import { systemRandom } from "../../src/time/random.js";
import { Schedule } from "../../src/time/schedule.js";

let server: EmbeddedValkey;
let redis: Redis;
let closes: (() => Promise<void>)[];

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

beforeEach(async () => {
  await redis.flushall();
  closes = [];
});

afterEach(async () => {
  for (const close of closes) await close();
});

interface Doors {
  readonly clock?: ManualClock;
  readonly record?: (real: VersionedRecord) => Partial<VersionedRecord>;
  readonly claim?: (real: StoreClaim) => Partial<StoreClaim>;
  readonly backend?: (real: LockBackend) => Partial<LockBackend>;
}

/** The real object, with some methods of another. */
function withDoors<Real extends object>(real: Real, doors: Partial<Real> = {}): Real {
  return new Proxy(real, {
    get(target, key) {
      if (key in doors) return Reflect.get(doors, key);
      const member: unknown = Reflect.get(target, key);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

function electionWith(label: string, doors: Doors = {}): Election<string> {
  const clock = doors.clock ?? new ManualClock();
  const schedule = new Schedule(clock);
  const connection = new Connection(detectClient(redis), false, schedule);
  const settings = {
    prefix: "holdfast",
    label,
    callTimeoutMs: 5_000,
    listenAfterMs: 1_000,
    schedule,
    random: systemRandom,
  };
  const context = new RedisContext(connection, settings);
  const real = new RedisLocks(context);
  const backend = withDoors<LockBackend>(real, {
    claim: (claim, observer) => {
      // It tells the observer of itself, and not of the door before it.
      const told = withDoors(observer, { granted: (_, grant) => observer.granted(shut, grant) });
      const made = real.claim(claim, told);
      const shut = withDoors(made, doors.claim?.(made));
      return shut;
    },
    ...doors.backend?.(real),
  });
  const locks = new Locks(backend, { random: systemRandom }, schedule);
  const records = new Records(new RecordStore(context), context);
  const observed = new WatchedStates<ElectionState>(context);
  const record = (name: string): VersionedRecord => {
    const made = records.record(name);
    return withDoors(made, doors.record?.(made));
  };
  closes.push(async () => {
    observed.close();
    await locks.close();
    records.close();
    await context.close();
  });
  const parts: ElectionParts = { context, locks, backend, observed, record };
  return new Election<string>(parts, "boss", { term: "10s", value: label });
}

const silence = (): never => {
  throw new IndeterminateError("no answer");
};

/** One candidate who waits behind the leader. */
async function nextInLine(): Promise<{ readonly id: string; isElected(): Promise<boolean> }> {
  const election = electionWith("next");
  const campaign = election.campaign();
  campaign.catch(() => {});
  await until("it stands for election", async () => (await election.candidates()).length === 1);
  const [candidate] = await election.candidates();
  return {
    id: candidate?.id ?? "",
    async isElected() {
      return (await campaign).valid && (await election.leader())?.id === candidate?.id;
    },
  };
}

test("a leader whose announcement fails leads all the same, says so, and announces itself later", async () => {
  const clock = new ManualClock();
  let isShut = true;
  const record = (real: VersionedRecord): Partial<VersionedRecord> => ({
    put: async (value, options) => (isShut ? silence() : real.put(value, options)),
  });
  const election = electionWith("one", { clock, record });
  const leadership = await election.campaign();
  expect([leadership.valid, leadership.announced]).toEqual([true, false]);
  const other = electionWith("other");
  const observed = other.observe();
  expect((await observed.next()).value).toMatchObject({ label: "one", announced: false, value: null });
  clock.advance(1_000);
  isShut = false;
  await until("it is announced", () => {
    clock.advance(100);
    return leadership.announced;
  });
  expect((await observed.next()).value).toMatchObject({
    term: leadership.term,
    announced: true,
    value: "one",
  });
  await observed.return?.();
  clock.advance(60_000);
});

test("a leader steps down when it announces itself late, and a later term is there", async () => {
  const clock = new ManualClock();
  let isShut = true;
  let later: VersionedRecord | null = null;
  const record = (real: VersionedRecord): Partial<VersionedRecord> => {
    later = real;
    return { put: async (value, options) => (isShut ? silence() : real.put(value, options)) };
  };
  const election = electionWith("one", { clock, record });
  const leadership = await election.campaign();
  const term = leadership.term + 1_000_000_000n;
  await (later as VersionedRecord | null)?.put("later", { fence: { fence: term, id: "later" } });
  isShut = false;
  await until("it steps down", () => {
    if (clock.now().monoMs < 5_000) clock.advance(100);
    return leadership.signal.aborted;
  });
  expect(leadership.valid).toBe(false);
  expect(leadership.signal.reason).toBeInstanceOf(LeaseLostError);
  expect(leadership.signal.reason).toMatchObject({ reason: "taken", fence: leadership.term });
  const next = await election.campaign();
  expect(next.term).toBeGreaterThan(term);
  await next.resign();
});

test("nobody announces a leadership that is over", async () => {
  const clock = new ManualClock();
  let puts = 0;
  const record = (): Partial<VersionedRecord> => ({
    put: async () => {
      puts += 1;
      return silence();
    },
  });
  const leadership = await electionWith("one", { clock, record }).campaign();
  await leadership.resign();
  clock.advance(9_000);
  expect(puts).toBe(1);
});

test("a leadership that was lost while it was announced is no result of a campaign [etcd#22387]", async () => {
  const clock = new ManualClock();
  let puts = 0;
  const record = (real: VersionedRecord): Partial<VersionedRecord> => ({
    put: async (value, options) => {
      puts += 1;
      if (puts === 1) clock.stall(11_000);
      return real.put(value, options);
    },
  });
  const election = electionWith("one", { clock, record });
  const told: string[] = [];
  for (const what of ["elected", "lost", "resigned"]) {
    const note = (): void => void told.push(what);
    subscribe(`holdfast:election:${what}`, note);
    onTestFinished(() => void unsubscribe(`holdfast:election:${what}`, note));
  }
  const campaign = election.campaign();
  await until("it asks again", () => {
    clock.advance(0);
    return puts === 2;
  });
  const leadership = await campaign;
  expect(told).toEqual(["elected"]);
  expect([puts, leadership.valid, (await election.leader())?.term]).toEqual([2, true, leadership.term]);
});

test("a campaign that is ended while it is announced leaves no leader", async () => {
  const controller = new AbortController();
  const record = (real: VersionedRecord): Partial<VersionedRecord> => ({
    put: async (value, options) => {
      controller.abort(new Error("enough"));
      return real.put(value, options);
    },
  });
  const election = electionWith("one", { record });
  await expect(election.campaign({ signal: controller.signal })).rejects.toThrow("enough");
  expect(await election.leader()).toBeNull();
});

test("a resignation without an answer can be tried again [etcd#22123]", async () => {
  let isShut = true;
  const backend = (real: LockBackend): Partial<LockBackend> => ({
    inspection: withDoors(real.inspection, {
      forceRelease: async (name, fence) => (isShut ? silence() : real.inspection.forceRelease(name, fence)),
    }),
  });
  const claim = (): Partial<StoreClaim> => ({
    release: (_, told) => queueMicrotask(() => told("unknown")),
  });
  const leadership = await electionWith("one", { claim, backend }).campaign();
  const next = await nextInLine();
  expect([await leadership.resign(), leadership.valid]).toEqual(["unknown", false]);
  expect(await leadership.resign()).toBe("unknown");
  isShut = false;
  expect(await leadership.resign()).toBe("released");
  expect(await next.isElected()).toBe(true);
  expect(await leadership.resign()).toBe("released");
  expect(await next.isElected()).toBe(true);
});

test("a resignation that is tried again knows whether its own release came through", async () => {
  for (const [lateMs, result] of [
    [0, "released"],
    [11_000, "lapsed"],
  ] as const) {
    await redis.flushall();
    const clock = new ManualClock();
    const claim = (real: StoreClaim): Partial<StoreClaim> => ({
      release: (leftMs, told, now) => real.release(leftMs, () => told("unknown"), now),
    });
    const leadership = await electionWith("one", { clock, claim }).campaign();
    expect(await leadership.resign()).toBe("unknown");
    clock.stall(lateMs);
    expect(await leadership.resign()).toBe(result);
  }
});

type TransferTo = (real: LockBackend, holder: Holder, to: string) => Promise<Transfer>;

async function transferring(
  transfer: TransferTo | undefined,
  doors: Doors = {},
): Promise<{
  readonly error: Promise<unknown>;
  readonly leadership: Leadership<string>;
  readonly next: Awaited<ReturnType<typeof nextInLine>>;
  readonly election: Election<string>;
}> {
  const election = electionWith("one", {
    ...doors,
    backend: (real) => {
      const door = transfer && ((holder: Holder, to: string) => transfer(real, holder, to));
      return { ...doors.backend?.(real), transfer: door } as Partial<LockBackend>;
    },
  });
  const leadership = await election.campaign();
  const next = await nextInLine();
  const error = leadership.transfer().then(
    () => null,
    (reason: unknown) => reason,
  );
  return { error, leadership, next, election };
}

test("a transfer without an answer ends the leadership, whether it was carried out or not", async () => {
  const both: TransferTo[] = [
    async () => silence(),
    async (real, holder, to) => {
      await real.transfer?.(holder, to);
      return silence();
    },
  ];
  for (const transfer of both) {
    await redis.flushall();
    const { error, leadership, next } = await transferring(transfer);
    expect(await error).toBeInstanceOf(IndeterminateError);
    expect([leadership.valid, leadership.signal.aborted]).toEqual([false, false]);
    expect(await next.isElected()).toBe(true);
    expect(await leadership.resign()).toBe("released");
    expect(await next.isElected()).toBe(true);
  }
});

test("a transfer that the server refuses changes nothing, unless half of it was carried out", async () => {
  const refuse = (): never => {
    throw new ServerError("READONLY no");
  };
  const refused = await transferring(async () => refuse());
  expect(await refused.error).toBeInstanceOf(ServerError);
  expect(refused.leadership.valid).toBe(true);
  await redis.flushall();
  const half = await transferring(async (real, holder, to) => {
    await real.transfer?.(holder, to);
    return refuse();
  });
  expect(await half.error).toBeInstanceOf(ServerError);
  expect([half.leadership.valid, await half.next.isElected()]).toEqual([false, true]);
});

test("a leader that the store does not know any more learns it from a transfer", async () => {
  const { error, leadership } = await transferring(async (real, holder, to) => {
    await redis.del("holdfast:{election:boss}:lock");
    return (await real.transfer?.(holder, to)) as Transfer;
  });
  expect(await error).toBeInstanceOf(LeaseLostError);
  expect([leadership.valid, leadership.signal.aborted]).toEqual([false, true]);
  expect(leadership.signal.reason).toMatchObject({ reason: "taken" });
});

test("a term that ends during a transfer to somebody who left is a loss", async () => {
  const clock = new ManualClock();
  const { error, leadership } = await transferring(
    async () => {
      clock.advance(11_000);
      return { outcome: "absent" };
    },
    { clock },
  );
  expect(await error).toMatchObject({ code: "LEASE_LOST", reason: "expired" });
  expect(leadership.signal.aborted).toBe(true);
});

test("a store without transfers says so, and the leader leads on", async () => {
  const { error, leadership } = await transferring(undefined);
  expect(await error).toMatchObject({ code: "INVALID_ARGUMENT", message: /not offered by this store/ });
  expect(leadership.valid).toBe(true);
});

test("a record that outlived the lock of its election is read twice, and believed by nobody", async () => {
  let reads = 0;
  const record = (real: VersionedRecord): Partial<VersionedRecord> => ({
    get: async () => {
      reads += 1;
      return real.get();
    },
  });
  await electionWith("one").campaign();
  await redis.del("holdfast:{election:boss}:lock");
  expect([await electionWith("other", { record }).leader(), reads]).toEqual([null, 2]);
});

test("a campaign does not wait for the resignation of an earlier leadership", async () => {
  const clock = new ManualClock();
  const claim = (real: StoreClaim): Partial<StoreClaim> => ({
    release: (leftMs, told, now) => real.release(leftMs, () => told("unknown"), now),
  });
  const hanging = new Promise<never>(() => {});
  const backend = (real: LockBackend): Partial<LockBackend> => ({
    inspection: withDoors(real.inspection, { forceRelease: () => hanging }),
  });
  const election = electionWith("one", { clock, claim, backend });
  const first = await election.campaign();
  expect(await first.resign()).toBe("unknown");
  expect((await election.campaign()).term > first.term).toBe(true);
});
