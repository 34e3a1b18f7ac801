/** Several locks over a store in memory: one that can take no names together, and one that does, well or badly. */
import { ManualClock } from "@holdfast/conformance";
import { AcquireTimeoutError, IndeterminateError, LeaseLostError, ServerError } from "holdfast";
import { Locks, type StoreClaim, type Taken } from "holdfast/locks";
import { beforeEach, expect, test } from "vitest";
import { MemoryLocks, MemoryStore } from "./memory-locks.js";

type TakeAll = (claims: readonly StoreClaim[]) => Promise<Taken> | null;

class TogetherLocks extends MemoryLocks {
  takeAll: TakeAll = () => null;
}

let clock: ManualClock;
let store: MemoryStore;
let backend: TogetherLocks;
let [one, two]: Locks[] = [];

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const multiOf = (locks: Locks | undefined, ...names: string[]) =>
  locks!.multiLock(names.map((name) => locks!.mutex(name)));
const held = (): string[] => ["a", "b", "c"].filter((name) => store.leftMs(name) > 0);

beforeEach(() => {
  clock = new ManualClock();
  store = new MemoryStore(clock);
  backend = new TogetherLocks(store, clock);
  [one, two] = [new Locks(backend, { clock }), new Locks(new MemoryLocks(store, clock), { clock })];
});

test("a store that takes no names together is asked for each, in order, up to the first that is not free", async () => {
  const lease = await multiOf(two, "c", "a", "b").acquire();
  expect([held(), lease.fences.length]).toEqual([["a", "b", "c"], 3]);
  await lease.release();
  const other = await two?.mutex("b").acquire();
  expect(await multiOf(one, "c", "b", "a").tryAcquire()).toBeNull();
  expect(held()).toEqual(["b"]);
  await expect(multiOf(one, "a", "b").acquire({ wait: 0 })).rejects.toMatchObject({ lock: "b", waitMs: 0 });
  await other?.release();
});

test("callers who want parts of each other's sets never overlap", async () => {
  const inside = new Set<string>();
  const work = async (locks: Locks | undefined, ...names: string[]): Promise<void> => {
    await multiOf(locks, ...names).run(async () => {
      for (const name of names) {
        expect(inside.has(name)).toBe(false);
        inside.add(name);
      }
      await settled();
      for (const name of names) inside.delete(name);
    });
  };
  const sets = [["a", "b"], ["c", "b"], ["c", "a"], ["b"], ["c", "b", "a"]];
  await Promise.all([one, two].flatMap((locks) => sets.map((names) => work(locks, ...names))));
  expect(held()).toEqual([]);
});

test.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
  "attempts at sets that overlap do not wait for each other, where one begins %i turns after an answer",
  async (turns) => {
    const answers: ((taken: Taken) => void)[] = [];
    backend.takeAll = () => new Promise((resolve) => answers.push(resolve));
    const first = multiOf(one, "b", "c").tryAcquire();
    await settled();
    const second = multiOf(one, "a", "b").tryAcquire(); // joins the first at b
    await settled();
    answers.shift()?.({ place: 1, busy: { owner: null, ahead: null } });
    for (let turn = 0; turn < turns; turn += 1) await null;
    const third = multiOf(one, "a", "b").tryAcquire(); // joins the second at a
    for (let round = 0; round < 3; round += 1) {
      await settled();
      for (const answer of answers.splice(0)) answer({ place: 0, busy: { owner: null, ahead: null } });
    }
    expect(await Promise.all([first, second, third])).toEqual([null, null, null]);
    await one?.close();
  },
);

test("one deadline counts for all parts, and what was taken is released", async () => {
  const others = [await two?.mutex("a").acquire(), await two?.mutex("b").acquire()];
  const waiting = multiOf(one, "a", "b", "c").acquire({ wait: 100 });
  waiting.catch(() => {});
  await settled();
  clock.advance(60);
  await others[0]?.release();
  await settled();
  expect(held()).toEqual(["a", "b"]);
  clock.advance(40);
  const error = await waiting.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(AcquireTimeoutError);
  expect(error).toMatchObject({ lock: "b", waitMs: 40 });
  expect(held()).toEqual(["b"]);
});

test("a part that expires while another is waited for ends the wait", async () => {
  await two?.mutex("b").acquire();
  const waiting = one?.multiLock([one.mutex("a", { ttl: 1_000, maxHold: 500 }), one.mutex("b")]).acquire();
  const error = waiting?.catch((reason: unknown) => reason);
  await settled();
  clock.advance(500);
  expect(await error).toBeInstanceOf(LeaseLostError);
  await settled();
  expect(held()).toEqual(["b"]);
});

test("an attempt without an answer is cleaned up, and the wait goes on until its time", async () => {
  let claims: readonly StoreClaim[] = [];
  backend.takeAll = async (all) => {
    claims = all;
    throw new IndeterminateError("no answer");
  };
  await expect(multiOf(one, "a", "b").tryAcquire()).rejects.toBeInstanceOf(IndeterminateError);
  expect(claims).toHaveLength(2);
  const lease = await multiOf(one, "a", "b").acquire();
  expect(held()).toEqual(["a", "b"]);
  await lease.release();
  backend.takeAll = () => Promise.reject(new ServerError("NOPERM this user may not"));
  await expect(multiOf(one, "a", "b").acquire()).rejects.toBeInstanceOf(ServerError);
});

test("time or a signal ends the wait for a store that is silent, and what it grants later is released", async () => {
  let answer: () => void = () => {};
  backend.takeAll = async (claims) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    const outcomes = await Promise.all(claims.map((claim) => claim.attempt()));
    return outcomes.flatMap((outcome) => ("token" in outcome ? [outcome] : []));
  };
  const late = multiOf(one, "a", "b").acquire({ wait: 100 });
  late.catch(() => {});
  await settled();
  clock.advance(100);
  await expect(late).rejects.toThrow("'a', 'b': no answer from the store within 100 ms");
  answer();
  await settled();
  expect(held()).toEqual([]);
  const controller = new AbortController();
  const aborted = multiOf(one, "a", "b").acquire({ signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  answer();
  await settled();
  expect(held()).toEqual([]);
});

test("a signal that aborts is heard in each phase: in the joint attempt, in the wait, and between the two", async () => {
  await two?.mutex("b").acquire();
  for (let depth = 0; depth < 60; depth += 1) {
    const controller = new AbortController();
    const waiting = multiOf(one, "a", "b").acquire({ signal: controller.signal });
    waiting.catch(() => {});
    for (let left = depth; left > 0; left -= 1) await null;
    controller.abort(new Error(`after ${depth}`));
    await expect(waiting).rejects.toThrow(`after ${depth}`);
  }
  await settled();
  expect(held()).toEqual(["b"]);
});
