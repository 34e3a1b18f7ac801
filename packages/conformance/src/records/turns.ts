/** What the function of an update may do to others: user code has a bound. */
import assert from "node:assert/strict";
import { DeadlockError } from "holdfast";
import type { NounCase, NounLab } from "../case.js";
import { rejection } from "../rejection.js";
import { until, within } from "../wait.js";
import { slow } from "../work.js";

/** A record that counts, and the clock of its process. */
async function counter(lab: NounLab) {
  const clock = lab.manualClock();
  const record = (await lab.holdfast({ clock })).record<number>(lab.name());
  await record.put(0);
  return { clock, record };
}

export const turnCases: readonly NounCase[] = [
  {
    name: "an update within the first function of a process that turns out to be asynchronous rejects when its turn is over",
    covers: [],
    needs: [],
    async run(lab) {
      const { clock, record } = await counter(lab);
      let [asked, inner] = [0, 0];
      // No async function, and no scope before its first call.
      const nested = record.update((value) =>
        record.get().then(() => {
          asked += 1;
          return record
            .update((other) => {
              inner += 1;
              return (other ?? 0) + 1;
            })
            .then(() => (value ?? 0) + 10);
        }),
      );
      const told = rejection(nested);
      await until("the inner one waits", () => asked > 0);
      clock.advance(10_000);
      assert.ok((await within(told, "the deadlock is told")) instanceof DeadlockError);
      assert.equal(inner, 1);
      assert.equal((await record.get())?.value, 1);
    },
  },
  {
    name: "an update within an update of the same record rejects at once, however far away it is, and the others go on",
    covers: [],
    needs: [],
    async run(lab) {
      const hf = await lab.holdfast();
      const [account, log] = [hf.record<number>(lab.name("account")), hf.record<number>(lab.name("log"))];
      await account.put(0);
      const addFee = async (): Promise<void> => {
        await log.update(async (value) => {
          await hf.record<number>(account.name).update((balance) => (balance ?? 0) + 1);
          return (value ?? 0) + 1;
        });
      };
      const nested = account.update(async (value) => {
        await addFee();
        return (value ?? 0) + 10;
      });
      const stranger = account.update((value) => (value ?? 0) + 100);
      const error = await within(rejection(nested), "the update that waits for itself");
      assert.ok(error instanceof DeadlockError, String(error));
      assert.deepEqual(
        error.circle.map(({ noun, name, owner }) => [noun, name, owner?.pid]),
        [["record", account.name, process.pid]],
      );
      assert.equal((await within(stranger, "the other update")).value, 100);
      assert.equal(await log.get(), null);
      // What it began and did not wait for comes after it.
      let after: Promise<unknown> = Promise.resolve();
      const outer = await account.update((value) => {
        after = log.get().then(() => account.update((later) => (later ?? 0) + 1));
        return (value ?? 0) + 1;
      });
      assert.equal(outer.value, 101);
      await within(after, "the update that came after it");
      assert.equal((await account.get())?.value, 102);
    },
  },
  {
    name: "a function that does not return holds up the other updates of its process for 10 s, and its own value is not lost",
    covers: [],
    needs: [],
    async run(lab) {
      const { clock, record } = await counter(lab);
      let seen = 0;
      const { work, began, end } = slow(() => seen + 1);
      const late = record.update((value) => {
        seen = value ?? 0;
        return work();
      });
      await within(began, "the slow function begins");
      const quick = [10, 100].map((amount) => record.update((value) => (value ?? 0) + amount));
      let isDone = false;
      void Promise.all(quick).then(() => {
        isDone = true;
      });
      clock.advance(9_999);
      await record.get();
      assert.equal(isDone, false);
      clock.advance(1);
      await within(Promise.all(quick), "the others");
      end();
      assert.equal((await within(late, "the slow one")).value, 111);
    },
  },
];
