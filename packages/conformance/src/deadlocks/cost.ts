/** What the search for circles sends, and what becomes of it when a process dies. */
import assert from "node:assert/strict";
import type { Holdfast, Lease } from "holdfast";
import type { NounCase } from "../case.js";
import { until } from "../wait.js";
import type { Wire } from "../wire.js";
import { Passing } from "./passing.js";

/** Requests that concern records of waits. */
function aboutWaits({ requests }: Wire): number {
  return requests.filter((words) => words.some((word) => word.endsWith(":waits"))).length;
}

export const deadlockCostCases: readonly NounCase[] = [
  {
    name: "nothing is sent for code that holds nothing, nor in the first 250 ms of a wait, nor for a circle of one",
    covers: [],
    needs: ["proxy"],
    async run(lab) {
      const passing = new Passing(lab);
      const proxy = await lab.proxy();
      const clock = passing.clock;
      const process = await lab.holdfast({ clock, through: proxy });
      const [a, b] = [lab.name("a"), lab.name("b")];
      const ttl = "60s";
      const held = await (await passing.process()).mutex(a, { ttl }).acquire();
      const sent = async (ms: number): Promise<number> => {
        for (let left = ms; left > 0; left -= 50) {
          clock.advance(Math.min(left, 50));
          await lab.settled(process);
        }
        return aboutWaits(proxy);
      };
      const stranger = process.mutex(a, { ttl }).acquire({ wait: "1h" });
      assert.equal(await sent(3_000), 0, "of code that holds nothing");
      const owner = {};
      const own = await process.mutex(b, { ttl }).acquire({ owner });
      proxy.forget();
      await process
        .mutex(b, { ttl })
        .acquire({ owner })
        .catch(() => {});
      assert.equal(proxy.requests.length, 0, "of a circle of one");
      const waits = process.mutex(a, { ttl }).acquire({ owner, wait: "1h" });
      assert.equal(await sent(249), 0, "in the first 250 ms");
      await until("it is written", async () => (await sent(50)) > 0);
      await held.release();
      await (await stranger).release();
      await (await waits).release();
      await own.release();
    },
  },
  {
    name: "a process that is killed in a circle gives nobody an error: its lease ends, and the others go on",
    covers: [],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const doomed = await lab.spawn();
      const process = await lab.holdfast();
      const [a, b] = [lab.name("a"), lab.name("b")];
      const owner = {};
      const held = await process.mutex(b).acquire({ owner });
      await doomed.perform(
        async ({ holdfast, kept }, { a, b }) => {
          const owner = {};
          kept.held = await holdfast.mutex(a, { ttl: 500 }).acquire({ owner });
          const wait = holdfast.mutex(b).acquire({ owner, wait: "1h" });
          (wait as Promise<Lease>).catch(() => {});
          await (holdfast as Holdfast).record("sent").get();
        },
        { a, b },
      );
      const wait = process.mutex(a).acquire({ owner });
      await doomed.kill();
      await (await wait).release();
      await held.release();
    },
  },
];
