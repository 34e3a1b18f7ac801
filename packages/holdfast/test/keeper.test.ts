/** Renewal and loss, on a clock that the test moves and a store whose answers the test gives. */
import { EventLog, ManualClock } from "@holdfast/conformance";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { IndeterminateError, type LossReason } from "../src/errors.js";
import { HeldLease, type LeaseEnds } from "../src/lease/held-lease.js";
import { Hold } from "../src/lease/hold.js";
import { Keeper, type Renew, type RenewOutcome } from "../src/lease/keeper.js";
import { Schedule } from "../src/time/schedule.js";

interface Renewal {
  readonly ids: string[];
  readonly timeoutMs: number;
  answer(...outcomes: RenewOutcome[]): Promise<void>;
  fail(): Promise<void>;
}

const TTL_MS = 3_000;
/** The ttl less 1 % and 2 ms. */
const VALID_MS = 2_968;

let clock: ManualClock;
let schedule: Schedule;
let renewals: Renewal[];
let keeper: Keeper;
let losses: Record<string, LossReason>;

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  clock = new ManualClock();
  schedule = new Schedule(clock);
  renewals = [];
  losses = {};
  const random = { fraction: () => 0, id: () => "id" };
  const renew: Renew = (holds, timeoutMs) =>
    new Promise((resolve, reject) => {
      renewals.push({
        ids: holds.map((hold) => hold.id),
        timeoutMs,
        answer: (...outcomes) => {
          resolve(outcomes.length ? outcomes : holds.map(() => "renewed" as const));
          return settled();
        },
        fail: () => {
          reject(new IndeterminateError("no answer"));
          return settled();
        },
      });
    });
  keeper = new Keeper({ schedule, random, renew });
});

function hold(id: string, ttlMs = TTL_MS, sentAt = clock.now()): Hold {
  const made = new Hold(clock, { name: id, id }, { token: 7n, turns: 4, ttlMs, sentAt });
  const lost = (reason: LossReason): void => {
    losses[id] = reason;
  };
  made.owner = { lost };
  keeper.keep(made);
  return made;
}

describe("a hold is renewed", () => {
  test("at a third of its ttl; the deadline moves to the ttl from when the renewal was sent", async () => {
    const held = hold("a");
    expect(held.remainingMs).toBe(VALID_MS);
    clock.advance(999);
    expect(renewals).toHaveLength(0);
    clock.advance(1);
    expect(renewals[0]?.ids).toEqual(["a"]);
    clock.advance(400); // the answer is on its way
    await renewals[0]?.answer();
    expect(held.remainingMs).toBe(VALID_MS - 400);
  });

  test("for as long as it is kept, and no longer", async () => {
    const held = hold("a");
    for (let round = 0; round < 20; round++) {
      clock.advance(1_000);
      await renewals[round]?.answer();
      expect(held.over).toBe(false);
    }
    keeper.drop(held);
    clock.advance(60_000);
    expect(renewals).toHaveLength(20);
    expect(clock.pendingTimers).toBe(0);
  });

  test("with others that are due soon, in one batch, and in chunks of 1,000", () => {
    for (let n = 0; n < 1_200; n++) hold(`h${n}`);
    clock.advance(1_001);
    expect(renewals.map((renewal) => renewal.ids.length)).toEqual([1_000, 200]);
    expect(renewals[0]?.timeoutMs).toBe(VALID_MS - 1_000);
  });

  test("a chunk without an answer delays no other", async () => {
    for (let n = 0; n < 1_001; n++) hold(`h${n}`);
    clock.advance(1_001);
    await renewals[1]?.answer();
    await renewals[0]?.fail();
    clock.advance(1_967);
    expect(Object.keys(losses)).toHaveLength(1_000);
    expect(losses).not.toHaveProperty(renewals[1]?.ids[0] as string);
  });

  test("soon after a grant by message that is old, but not before half of the ttl is spent", () => {
    const sentAt = clock.now();
    clock.advance(1_200);
    hold("a", TTL_MS, sentAt);
    clock.advance(299);
    expect(renewals).toHaveLength(0);
    clock.advance(1);
    expect(renewals).toHaveLength(1);
  });
});

describe("a hold is lost", () => {
  test("taken or forgotten: when the store says so, at once", async () => {
    const held = hold("a");
    hold("b");
    clock.advance(1_000);
    await renewals[0]?.answer("lost", "forgotten");
    expect(losses).toEqual({ a: "taken", b: "forgotten" });
    expect(held.remainingMs).toBe(0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(clock.pendingTimers).toBe(0);
  });

  test("expired: no answer is tried again within the lease, and never moves the deadline", async () => {
    const held = hold("a");
    clock.advance(1_000);
    await renewals[0]?.fail();
    clock.advance(500);
    await renewals[1]?.fail();
    clock.advance(500);
    expect(renewals).toHaveLength(3);
    clock.advance(VALID_MS - 2_000 - 1);
    expect(losses).toEqual({});
    clock.advance(1);
    expect(losses).toEqual({ a: "expired" });
    expect(held.over).toBe(true);
  });

  test("saved: one lost answer costs nothing when the next try succeeds", async () => {
    const held = hold("a");
    clock.advance(1_000);
    await renewals[0]?.fail();
    clock.advance(500);
    await renewals[1]?.answer();
    expect(held.remainingMs).toBe(VALID_MS);
    expect(losses).toEqual({});
  });

  test("saved: an answer that comes after the next try was sent counts from when its own was sent", async () => {
    const held = hold("a");
    clock.advance(1_000);
    clock.advance(900); // longer than it takes to send the next
    expect(renewals.length).toBeGreaterThan(1);
    await renewals[0]?.answer();
    expect(held.remainingMs).toBe(VALID_MS - 900);
    await renewals[1]?.answer();
    await renewals[0]?.answer();
    expect(held.remainingMs).toBe(VALID_MS - 400);
  });

  test("expired on time while a renewal hangs, and a late answer neither revives it nor tells of it again", async () => {
    const log = new EventLog();
    onTestFinished(() => log.close());
    const held = hold("a");
    clock.advance(VALID_MS);
    expect(losses).toEqual({ a: "expired" });
    await renewals[0]?.answer();
    await renewals[1]?.answer("forgotten");
    expect([held.over, held.remainingMs]).toEqual([true, 0]);
    expect(log.all("holdfast:lock:renewed")).toEqual([]);
  });

  test("a success that arrives after the deadline but before the timer is not believed", async () => {
    const held = hold("a");
    clock.advance(1_000);
    clock.stall(2_500);
    await renewals[0]?.answer();
    expect(held.over).toBe(true);
    expect(losses).toEqual({ a: "expired" });
  });

  test("expired within a second when the wall clock shows that the machine was suspended", () => {
    hold("a", 60_000);
    hold("b", 600_000);
    clock.advance(100);
    clock.stepWall(59_999);
    clock.advance(1_000);
    expect(losses).toEqual({ a: "expired" });
  });

  test.each([
    ["a fresh hold", 100, 400],
    ["a hold that is watched", 2_000, 500],
  ])(
    "saved: a renewal of %s follows soon when a suspension has left less than half of the ttl",
    async (_, heldMs, laterMs) => {
      const held = hold("a", 60_000);
      clock.advance(heldMs);
      clock.stepWall(50_000);
      clock.advance(laterMs);
      expect(renewals).toHaveLength(1);
      await renewals[0]?.answer();
      expect(held.remainingMs).toBeGreaterThan(59_000);
    },
  );

  test("expired on time when a suspension has left little of it, and no renewal is answered", () => {
    const held = hold("a", 60_000);
    clock.advance(100);
    clock.stepWall(50_000);
    clock.advance(1_000);
    clock.advance(Math.ceil(held.remainingMs));
    expect(losses).toEqual({ a: "expired" });
  });

  test("expired on time when a suspension comes after its last try", () => {
    const held = hold("a", 60_000);
    clock.advance(55_000);
    clock.stepWall(2_000);
    clock.advance(1_100);
    expect(held.remainingMs).toBeGreaterThan(0);
    clock.advance(Math.ceil(held.remainingMs));
    expect(losses).toEqual({ a: "expired" });
  });

  test("expired without a word to the store when its time was over as its renewal came up", () => {
    const held = hold("a");
    clock.advance(500);
    clock.stall(VALID_MS);
    clock.advance(0);
    expect([losses, held.over, renewals]).toEqual([{ a: "expired" }, true, []]);
  });

  test("by nobody who has given it back meanwhile, and no event tells of it", async () => {
    const log = new EventLog();
    onTestFinished(() => log.close());
    const held = hold("a");
    hold("b");
    clock.advance(1_000);
    keeper.drop(held);
    held.giveUp();
    await renewals[0]?.answer("lost", "renewed");
    expect(losses).toEqual({});
    expect(log.all("holdfast:lock:renewed")).toEqual([{ leases: 1, lost: 0, tookMs: 0 }]);
  });

  test("not by an answer that says nothing of it: the next try follows, and the deadline stays", async () => {
    const held = hold("a");
    clock.advance(1_000);
    await renewals[0]?.answer("unknown");
    expect(held.remainingMs).toBe(VALID_MS - 1_000);
    clock.advance(500);
    expect(renewals).toHaveLength(2);
  });

  test("not by a wall clock that was set back", () => {
    const held = hold("a", 60_000);
    clock.stepWall(-3_600_000);
    clock.advance(1_000);
    expect(held.remainingMs).toBe(60_000 * 0.99 - 2 - 1_000);
  });
});

describe("many holds without an answer", () => {
  test("are each ended at their own deadline, and tried a few times, not once per deadline [H51]", () => {
    const ends: number[] = [];
    const startMs = clock.now().monoMs;
    for (let n = 0; n < 200; n++) {
      clock.advance(3);
      const held = hold(`h${n}`);
      const lost = (): void => void ends.push(Math.round(clock.now().monoMs - startMs - 3 * (n + 1)));
      held.owner = { lost };
    }
    clock.advance(TTL_MS);
    expect(ends).toHaveLength(200);
    expect(Math.max(...ends)).toBe(VALID_MS);
    expect(renewals.length).toBeLessThan(30);
  });

  test("a grant that comes late in its ttl ends on time", () => {
    const sentAt = clock.now();
    clock.advance(VALID_MS - 3);
    hold("late", TTL_MS, sentAt);
    clock.advance(3);
    expect(losses).toEqual({ late: "expired" });
  });
});

describe("a lease", () => {
  const never = (): never => {
    throw new Error("nobody hands this lease over");
  };
  const released: LeaseEnds["giveBack"] = (told) => told("released");
  const lease = (held: Hold, maxHoldMs = Number.POSITIVE_INFINITY, giveBack = released): HeldLease => {
    const lose: LeaseEnds["lose"] = (reason) => turn.lose(reason);
    const turn = new HeldLease(clock, held, maxHoldMs, { giveBack, lose, handOver: never });
    return turn;
  };

  test("knows its end by the clock before any timer has fired [H03]", () => {
    const held = hold("a");
    const turn = lease(held);
    const { signal } = turn;
    expect(turn.valid).toBe(true);
    turn.check();
    clock.stall(VALID_MS);
    expect(signal.aborted).toBe(false);
    expect(() => turn.check()).toThrow(
      expect.objectContaining({ code: "LEASE_LOST", reason: "expired", fence: 7n }),
    );
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ code: "LEASE_LOST", lock: "a" });
  });

  test("each turn on a hold has its own larger fence", () => {
    const held = hold("a");
    expect([lease(held).fence, lease(held).fence, lease(held).fence]).toEqual([7n, 8n, 9n]);
    expect(held.turnsLeft).toBe(1);
  });

  test("a signal first asked for after the loss is already aborted", () => {
    const turn = lease(hold("a"));
    clock.advance(VALID_MS);
    expect(turn.signal.aborted).toBe(true);
  });

  test("maxHoldMs ends it however healthy its hold is", () => {
    const turn = lease(hold("a"), 500);
    clock.advance(499);
    expect(turn.remainingMs).toBe(1);
    clock.advance(1);
    expect(() => turn.check()).toThrow(expect.objectContaining({ reason: "max-hold" }));
  });

  test("ends once, even when a listener of its signal releases it again from within the release", async () => {
    let ends = 0;
    const giveBack = (told: (result: "released") => void): void => {
      ends += 1;
      told("released");
    };
    const turn = lease(hold("a"), 500, giveBack);
    const inner: Promise<string>[] = [];
    turn.signal.addEventListener("abort", () => inner.push(turn.release()));
    clock.stall(600);
    const outer = turn.release();
    expect([await outer, ...(await Promise.all(inner))]).toEqual(["lapsed", "lapsed"]);
    expect(ends).toBe(1);
  });

  test("after its release it is not valid, says so, and gives the same result again", async () => {
    const turn = lease(hold("a"));
    expect([await turn.release(), await turn.release()]).toEqual(["released", "released"]);
    expect(turn.valid).toBe(false);
    expect(turn.signal.aborted).toBe(false);
    expect(() => turn.check()).toThrow(expect.objectContaining({ code: "LEASE_RELEASED" }));
  });
});
