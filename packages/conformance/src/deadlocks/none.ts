/** Waits that make no circle: none of them ends with an error, and they leave nothing behind. */
import assert from "node:assert/strict";
import { AcquireTimeoutError, ClosedError, type Lease } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { Code, oneVictim, Passing } from "./passing.js";

/** What a process that could not delete its record leaves: it waited for this mutex. Its id is before all others, so that it is no victim. */
function staleRecord(fence: bigint, name: string): string {
  const wait = { id: "!stale", noun: "mutex", name, permits: 1, beat: 3, seen: {} };
  return JSON.stringify({ host: "elsewhere", pid: 1, label: "", fence: String(fence), waits: [wait] });
}

async function served(passing: Passing, wait: Promise<Lease>): Promise<void> {
  const outcome = await passing.outcome(wait);
  assert.ok(!(outcome instanceof Error), String(outcome));
  await outcome.release();
}

export const noCircleCases: readonly NounCase[] = [
  {
    name: "a holder who works for long gives nobody an error, even where a record says that it waits, and waits no more",
    covers: [],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const [a, b] = [lab.name("a"), lab.name("b")];
      const [waits, works] = [new Code(await passing.process()), new Code(await passing.process())];
      const [held, working] = [await waits.mutex(b), await works.mutex(a)];
      const wait = waits.mutex(a);
      await passing.looks(held, 3);
      await lab.command("SET", passing.keyOf(working.id), staleRecord(working.fence, b), "PX", "60000");
      await passing.looks(held, 8);
      await working.release();
      await served(passing, wait);
      await held.release();
    },
  },
  {
    name: "a turn that was passed on inside a process is not blocked by what its former holder waited for",
    covers: [],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const [a, b] = [lab.name("a"), lab.name("b")];
      const [process, elsewhere] = [await passing.process(), await passing.process()];
      const [first, other] = [new Code(process), new Code(elsewhere)];
      const [held, heldElsewhere] = [await first.mutex(a), await other.mutex(b)];
      const stop = new AbortController();
      const former = rejection(first.mutex(b, "1h", stop.signal));
      await passing.looks(held, 2);
      // Its next holder has the same place at the store.
      const next = new Code(process).mutex(a);
      const record = (await lab.command("GET", passing.keyOf(held.id))) as string;
      stop.abort(new Error("changed my mind"));
      assert.equal(((await former) as Error).message, "changed my mind");
      await held.release();
      const now = await next;
      assert.equal(now.id, held.id);
      // A copy of the record arrives late.
      await lab.command("SET", passing.keyOf(held.id), record, "PX", "60000");
      const wait = other.mutex(a);
      await passing.looks(heldElsewhere, 8);
      await now.release();
      await served(passing, wait);
      await heldElsewhere.release();
    },
  },
  {
    name: "a wait that leads into a circle is not part of it: it gets no error, and its lock in the end",
    covers: [],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const [a, b, c] = [lab.name("a"), lab.name("b"), lab.name("c")];
      const codes = await Promise.all([1, 2, 3].map(async () => new Code(await passing.process())));
      const [one, two, outside] = codes as [Code, Code, Code];
      const [first, second, third] = [await one.mutex(a), await two.mutex(b), await outside.mutex(c)];
      const chain = served(passing, outside.mutex(a));
      await oneVictim(passing, [
        { wait: one.mutex(b), held: [first] },
        { wait: two.mutex(a), held: [second] },
      ]);
      await chain;
      await third.release();
    },
  },
  {
    name: "a wait for permits ends without an error while another holder of some can go on",
    covers: [],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const [mutex, semaphore] = [lab.name("m"), lab.name("s")];
      const [one, two] = [new Code(await passing.process()), new Code(await passing.process())];
      const stranger = await (await passing.process()).semaphore(semaphore, { permits: 2 }).acquire();
      const [permit, held] = [await one.permits(semaphore, 2), await two.mutex(mutex)];
      const waits = [one.mutex(mutex), two.permits(semaphore, 2)];
      await passing.looks(held, 6);
      await stranger.release();
      await served(passing, waits[1] as Promise<Lease>);
      await held.release();
      await served(passing, waits[0] as Promise<Lease>);
      await permit.release();
    },
  },
  {
    name: "a branch that works beside a branch that waits is not blocked by it",
    covers: [],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const [a, b, c] = [lab.name("a"), lab.name("b"), lab.name("c")];
      const process = await passing.process();
      const other = new Code(await passing.process());
      const held = await other.mutex(c);
      let finish = (): void => {};
      const working = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const ttl = "60s";
      let begun = (): void => {};
      const isWorking = new Promise<void>((resolve) => {
        begun = resolve;
      });
      const work = process.mutex(a, { ttl }).run(() =>
        Promise.all([
          process.mutex(b, { ttl }).run(async () => {
            begun();
            await working;
          }),
          process.mutex(c, { ttl }).run(() => {}, { wait: "1h" }),
        ]),
      );
      await isWorking;
      const wait = other.mutex(b);
      await passing.looks(held, 6);
      finish();
      await served(passing, wait);
      await held.release();
      await work;
    },
  },
  {
    name: "however a wait ends, its record goes with it",
    covers: [],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const [a, b] = [lab.name("a"), lab.name("b")];
      const [process, holder] = [await passing.process(), new Code(await passing.process())];
      const code = new Code(process);
      const [held, busy] = [await code.mutex(b), await holder.mutex(a)];
      const isGone = async (how: string): Promise<void> => {
        await passing.step();
        assert.equal(await passing.beatOf(held), 0, how);
      };
      const timeout = passing.outcome(code.mutex(a, "2s"));
      await passing.looks(held, 1);
      assert.ok((await timeout) instanceof AcquireTimeoutError);
      await isGone("time-out");
      const stop = new AbortController();
      const aborted = rejection(code.mutex(a, "1h", stop.signal));
      await passing.looks(held, 1);
      stop.abort("enough");
      assert.equal(await aborted, "enough");
      await isGone("abort");
      const granted = code.mutex(a);
      await passing.looks(held, 1);
      await busy.release();
      const got = await passing.outcome(granted);
      assert.ok(!(got instanceof Error), String(got));
      await isGone("grant");
      await got.release();
      const again = await holder.mutex(a);
      const closed = rejection(code.mutex(a));
      await passing.looks(held, 1);
      await process.close();
      assert.ok((await closed) instanceof ClosedError);
      assert.equal(await passing.beatOf(held), 0, "close");
      await again.release();
    },
  },
];
