/** Every case that work that is carried out once must pass. */
import assert from "node:assert/strict";
import {
  AcquireTimeoutError,
  DeadlockError,
  type Holdfast,
  LeaseLostError,
  OnceFailedError,
  ResultNotStoredError,
  StaleTokenError,
} from "holdfast";
import type { NounCase, NounLab } from "../case.js";
import { rejection } from "../rejection.js";
import { until, within } from "../wait.js";
import { never, slow } from "../work.js";

const DAY = { keep: "1d" } as const;

/** Some processes. */
async function processes(lab: NounLab, count: number): Promise<Holdfast[]> {
  return Promise.all(Array.from({ length: count }, () => lab.holdfast()));
}

const recordOf = (lab: NounLab, key: string): string => `${lab.prefix}:{once:${key}}:record:once:${key}`;

const answers: readonly NounCase[] = [
  {
    name: "work runs once for a key, and its stored result answers every other process, also much later",
    covers: ["Stripe: idempotency keys, a stored answer is replayed"],
    needs: [],
    async run(lab) {
      const [one, other] = await processes(lab, 2);
      assert.ok(one && other);
      const key = lab.name();
      const first = await one.once(key, () => ({ sum: 5, of: ["a", null] }), DAY);
      assert.deepEqual(first, { ran: true, value: { sum: 5, of: ["a", null] } });
      for (const hf of [one, other])
        assert.deepEqual(await hf.once(key, never, DAY), { ran: false, value: { sum: 5, of: ["a", null] } });
    },
  },
  {
    name: "three processes that are started apart carry out the work of a slot once, where a free lock would run it three times",
    covers: ["cron on several hosts: the slowest one starts when the lock is free again"],
    needs: [],
    async run(lab) {
      const hosts = await processes(lab, 3);
      const [slot, job] = [lab.name("report:2026-11-22"), lab.name("nightly")];
      let [byLock, byOnce] = [0, 0];
      for (const hf of hosts) {
        await hf.mutex(job).run(() => {
          byLock += 1;
        });
        const report = (): void => {
          byOnce += 1;
        };
        await hf.once(slot, report, DAY);
      }
      assert.deepEqual([byLock, byOnce], [3, 1]);
    },
  },
  {
    name: "callers who wait for a run are answered with its result by one message, without a turn at the lock each",
    covers: ["singleflight: duplicate callers share one result"],
    needs: [],
    async run(lab) {
      const [one, other, third] = await processes(lab, 3);
      assert.ok(one && other && third);
      const key = lab.name();
      const { work, began, end } = slow(() => 7);
      const running = one.once(key, work, DAY);
      await within(began, "the work begins");
      const waiting = [one, other, third].flatMap((hf) =>
        Array.from({ length: 8 }, () => hf.once(key, never, DAY)),
      );
      const inspector = await third.inspector();
      await until("both other processes stand in line", async () => {
        return (await inspector.lock(`once:${key}`))?.waiting === 2;
      });
      end();
      for (const answer of await within(Promise.all(waiting), "all are answered"))
        assert.deepEqual(answer, { ran: false, value: 7 });
      assert.deepEqual(await running, { ran: true, value: 7 });
      const turns = lab.events.all("holdfast:lock:acquired").length;
      assert.ok(turns <= 4, `${turns} turns at the lock`);
    },
  },
  {
    name: "bytes, null and nothing are results, and come back as what they were",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, other] = await processes(lab, 2);
      assert.ok(one && other);
      for (const value of [undefined, null, "", new Uint8Array([0, 255, 10])]) {
        const key = lab.name();
        assert.deepEqual(await one.once(key, () => value, DAY), { ran: true, value });
        assert.deepEqual(await other.once(key, never, DAY), { ran: false, value });
      }
    },
  },
  {
    name: "keys with hostile names are distinct, and leave one record each",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, other] = await processes(lab, 2);
      assert.ok(one && other);
      const stem = lab.name();
      for (const [place, ending] of ["*", "[a]", "a:b", "{}", "\n", "🔑", "\\"].entries()) {
        const key = `${stem}${ending}`;
        assert.deepEqual(await one.once(key, () => place, DAY), { ran: true, value: place });
        assert.deepEqual(await other.once(key, never, DAY), { ran: false, value: place });
        assert.equal(await lab.command("HEXISTS", recordOf(lab, key), "value"), 1);
      }
    },
  },
  {
    name: "a result counts until its keep is over, from the end of the work by the server's clock, and then the work runs again",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, other] = await processes(lab, 2);
      assert.ok(one && other);
      const key = lab.name();
      await one.once(key, () => 1, { keep: "1h" });
      const left = Number(await lab.command("PTTL", recordOf(lab, key)));
      assert.ok(left > 3_590_000 && left <= 3_600_000, `${left} ms are left`);
      await lab.command("PEXPIRE", recordOf(lab, key), "1");
      const again = await until("the outcome has ended", async () => {
        const answer = await other.once(key, () => 2, { keep: "1h" });
        return answer.ran ? answer : null;
      });
      assert.equal(again.value, 2);
    },
  },
  {
    name: "forget() makes the next call run again, and tells whether there was an outcome",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, other] = await processes(lab, 2);
      assert.ok(one && other);
      const key = lab.name();
      assert.equal(await one.once.forget(key), false);
      await one.once(key, () => 1, DAY);
      assert.equal(await other.once.forget(key), true);
      assert.deepEqual(await one.once(key, () => 2, DAY), { ran: true, value: 2 });
      await one.once.forget(key);
      const left = Number(await lab.command("PTTL", recordOf(lab, key)));
      assert.ok(left > 0, "what is left of a forgotten key ends");
    },
  },
];

const failures: readonly NounCase[] = [
  {
    name: "an error of the work reaches its own caller only, and the next in line runs its own work",
    covers: ["cron: a failed job is tried by another host"],
    needs: [],
    async run(lab) {
      const [one, other] = await processes(lab, 2);
      assert.ok(one && other);
      const [key, fault] = [lab.name(), new RangeError("no paper")];
      const { work, began, end } = slow(() => Promise.reject(fault));
      const failing = rejection(one.once(key, work, DAY));
      await within(began, "the work begins");
      const next = other.once(key, () => "done", DAY);
      end();
      assert.equal(await failing, fault);
      assert.deepEqual(await within(next, "the next one runs"), { ran: true, value: "done" });
      assert.equal((await lab.events.next("holdfast:once:failed")).stored, false);
    },
  },
  {
    name: "a stored error is the outcome for all others, those who wait as well, until it is forgotten",
    covers: ["Stripe: idempotency keys keep failures too"],
    needs: [],
    async run(lab) {
      const [one, other] = await processes(lab, 2);
      assert.ok(one && other);
      const key = lab.name();
      const fault = Object.assign(new RangeError("no paper"), { code: "E_PAPER" });
      const { work, began, end } = slow(() => Promise.reject(fault));
      const failing = rejection(one.once(key, work, { ...DAY, errors: "store" }));
      await within(began, "the work begins");
      const waiting = rejection(other.once(key, never, DAY));
      end();
      assert.equal(await failing, fault);
      const failed = await within(waiting, "the waiter hears of it");
      assert.ok(failed instanceof OnceFailedError);
      assert.deepEqual(failed.failure, { name: "RangeError", message: "no paper", code: "E_PAPER" });
      assert.ok((await rejection(one.once(key, never, DAY))) instanceof OnceFailedError);
      await other.once.forget(key);
      assert.equal((await one.once(key, () => 1, DAY)).ran, true);
    },
  },
  {
    name: "work whose result cannot be stored has run: its caller gets the result in an error, and nobody runs it again",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, other] = await processes(lab, 2);
      assert.ok(one && other);
      for (const value of [new Map([["a", 1]]), "x".repeat(2 ** 20 + 1)]) {
        const key = lab.name();
        const error = await rejection(one.once(key, () => value, DAY));
        assert.ok(error instanceof ResultNotStoredError);
        assert.deepEqual([error.reason, error.value], ["unstorable", value]);
        const told = await rejection(other.once(key, never, DAY));
        assert.ok(told instanceof OnceFailedError);
        assert.match(told.message, /ran, but it returned a result that cannot be stored/);
      }
    },
  },
  {
    name: "a caller who does not wait is told who runs, and one who waits is told so when its time is over",
    covers: [],
    needs: [],
    waits: true,
    async run(lab) {
      const [one, other] = await processes(lab, 2);
      assert.ok(one && other);
      const key = lab.name();
      const { work, began, end } = slow(() => 1);
      const running = one.once(key, work, DAY);
      await within(began, "the work begins");
      for (const wait of [0, 400]) {
        const busy = await rejection(other.once(key, never, { ...DAY, wait }));
        assert.ok(busy instanceof AcquireTimeoutError);
        assert.equal(busy.owner?.pid, process.pid);
      }
      end();
      await running;
    },
  },
  {
    name: "a call within the work of its own key rejects at once, and a run and a caller that wait for each other do so within seconds",
    covers: [],
    needs: [],
    waits: true,
    async run(lab) {
      const [one, other] = await processes(lab, 2);
      assert.ok(one && other);
      const key = lab.name();
      const helper = () => one.once(key, never, DAY);
      const alone = await within(rejection(one.once(key, helper, DAY)), "the call that waits for itself");
      assert.ok(alone instanceof DeadlockError, String(alone));
      assert.equal(alone.circle.length, 1);
      const mutex = lab.name("mutex");
      const { work, began, end } = slow(() => one.mutex(mutex).run(() => "done"));
      const running = one.once(key, work, DAY);
      await within(began, "the work begins");
      const waiting = other.mutex(mutex).run(() => {
        end();
        return other.once(key, () => "done", DAY);
      });
      const outcomes = await within(Promise.allSettled([running, waiting]), "one of both is told");
      const told = outcomes.filter(({ status }) => status === "rejected");
      assert.equal(told.length, 1, "one of the circle is told, and the other goes on");
      assert.ok((told[0] as PromiseRejectedResult).reason instanceof DeadlockError);
    },
  },
];

const deaths: readonly NounCase[] = [
  {
    name: "a process that dies in the middle lets the next one run, with a larger fence",
    covers: ["Redisson: a lock of a dead process is freed by its lease"],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const [doomed, survivor] = [await lab.spawn(), await lab.holdfast()];
      const key = lab.name();
      const fence = await doomed.perform(
        ({ holdfast }, name) =>
          new Promise<bigint>((begun) => {
            const forever = (): Promise<never> => new Promise(() => {});
            void holdfast.once(
              name,
              (lease) => {
                begun(lease.fence);
                return forever();
              },
              { keep: "1d", ttl: 1_500 },
            );
          }),
        key,
      );
      await doomed.kill();
      const next = survivor.once(key, (lease) => lease.fence > fence, { ...DAY, ttl: 1_500 });
      assert.deepEqual(await within(next, "another process runs"), { ran: true, value: true });
    },
  },
  {
    name: "a run that was overtaken is told that another process took over, and cannot replace its result",
    covers: ["Kleppmann: a late holder overwrites"],
    needs: ["proxy"],
    waits: true,
    async run(lab) {
      const through = await lab.proxy();
      const [cut, other] = [await lab.holdfast({ through, callTimeout: 500 }), await lab.holdfast()];
      const key = lab.name();
      const { work, began, end } = slow(() => "late");
      let lost: unknown;
      const late = rejection(
        cut.once(
          key,
          (lease) => {
            lease.signal.addEventListener("abort", () => {
              lost = lease.signal.reason;
            });
            return work();
          },
          { ...DAY, ttl: 1_500 },
        ),
      );
      await within(began, "the work begins");
      through.set({ up: "hold", down: "hold" });
      const next = await within(
        other.once(key, (lease) => String(lease.fence), { ...DAY, ttl: 1_500 }),
        "another process takes over",
      );
      through.heal();
      end();
      const error = await within(late, "the late one is told");
      assert.ok(lost instanceof LeaseLostError);
      assert.ok(error instanceof ResultNotStoredError);
      assert.deepEqual([error.reason, error.value], ["overtaken", "late"]);
      assert.ok(error.cause instanceof StaleTokenError);
      assert.match(error.message, /another process took over while it ran/);
      assert.deepEqual(await other.once(key, never, DAY), { ran: false, value: next.value });
    },
  },
  {
    name: "a result whose storing gets no answer is sent again, and is stored once",
    covers: [],
    needs: ["proxy"],
    waits: true,
    async run(lab) {
      const through = await lab.proxy();
      const [cut, other] = [await lab.holdfast({ through, callTimeout: 400 }), await lab.holdfast()];
      const key = lab.name();
      const { work, began, end } = slow(() => 7);
      const running = cut.once(key, work, DAY);
      await within(began, "the work begins");
      // The server hears the write, and its answer is held back.
      through.set({ down: "hold" }, "commands");
      through.forget();
      end();
      assert.deepEqual(await within(other.once(key, never, DAY), "another process hears of it"), {
        ran: false,
        value: 7,
      });
      const version = await lab.command("HGET", recordOf(lab, key), "version");
      await until("the write is sent again", () => through.scriptCalls.length > 1);
      through.heal();
      assert.deepEqual(await within(running, "the run has its answer"), { ran: true, value: 7 });
      assert.equal(await lab.command("HGET", recordOf(lab, key), "version"), version);
    },
  },
  {
    name: "a waiter whose subscription breaks still gets the result",
    covers: [],
    needs: ["proxy"],
    async run(lab) {
      const through = await lab.proxy();
      const [one, cut] = [await lab.holdfast(), await lab.holdfast({ through })];
      const key = lab.name();
      const { work, began, end } = slow(() => 7);
      const running = one.once(key, work, DAY);
      await within(began, "the work begins");
      const waiting = cut.once(key, never, DAY);
      await lab.events.next("holdfast:lock:waiting");
      through.cut("inbox");
      end();
      await running;
      assert.deepEqual(await within(waiting, "it is answered"), { ran: false, value: 7 });
    },
  },
];

export const onceCases: readonly NounCase[] = [...answers, ...failures, ...deaths];
