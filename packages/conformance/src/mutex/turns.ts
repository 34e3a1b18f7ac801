/** Turns: what a process does with a name that several of its callers want. */
import assert from "node:assert/strict";
import type { LockCase } from "../case.js";
import { LONG_TTL_MS } from "../standing.js";
import { standInLine, take } from "./rivals.js";

export const turnCases: readonly LockCase[] = [
  {
    name: "a process passes the name on among its callers for localTurns turns, then others get theirs",
    covers: ["Redisson #3573, #3728: starvation"],
    needs: ["peek"],
    async run(lab) {
      const [home, abroad] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const terms = { ttl: LONG_TTL_MS, localTurns: 3 };
      const order: string[] = [];
      const lease = await take(home, name, terms);
      const locals = [1, 2, 3, 4].map((turn) =>
        home.mutex(name, terms).run(() => void order.push(`home ${turn}`)),
      );
      const waiter = await standInLine(lab, abroad, name, 1);
      const foreign = waiter.lease.then(async (granted) => {
        order.push("abroad");
        await granted.release();
      });
      await lease.release();
      await Promise.all([...locals, foreign]);
      assert.deepEqual(order, ["home 1", "home 2", "abroad", "home 3", "home 4"]);
    },
  },
  {
    name: "the turns of one process have consecutive tokens, and the next process's is larger than all",
    covers: [],
    needs: ["peek"],
    async run(lab) {
      const [home, abroad] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const terms = { ttl: LONG_TTL_MS, localTurns: 3 };
      const fences: bigint[] = [];
      const first = await take(home, name, terms);
      const turns = [1, 2].map(() => home.mutex(name, terms).run((lease) => void fences.push(lease.fence)));
      const waiter = await standInLine(lab, abroad, name, 1);
      await first.release();
      await Promise.all(turns);
      const foreign = await waiter.lease;
      assert.deepEqual(fences, [first.fence + 1n, first.fence + 2n]);
      assert.ok(foreign.fence > first.fence + 2n);
      await foreign.release();
    },
  },
  {
    name: "a turn that is passed on inside the process costs no request, and says so",
    covers: [],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const home = await lab.holdfast({ through: proxy });
      const mutex = home.mutex(lab.name(), { ttl: LONG_TTL_MS });
      const first = await mutex.acquire();
      const second = mutex.acquire();
      await lab.settled(home);
      proxy.forget();
      assert.equal(await first.release(), "released");
      const lease = await second;
      assert.equal(proxy.scriptCalls.length, 0);
      const locals = lab.events.all("holdfast:lock:acquired").map((event) => event.local);
      assert.deepEqual(locals, [false, true]);
      assert.equal(first.valid, false);
      assert.equal(lease.valid, true);
      assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "turns inside the process end after a third of the ttl, however many are left",
    covers: [],
    needs: ["peek"],
    async run(lab) {
      const clock = lab.manualClock();
      const [home, abroad] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const name = lab.name();
      const terms = { ttl: LONG_TTL_MS, localTurns: 100 };
      const order: string[] = [];
      const lease = await take(home, name, terms);
      const local = home.mutex(name, terms).run(() => void order.push("home"), { wait: LONG_TTL_MS * 2 });
      const waiter = await standInLine(lab, abroad, name, 1);
      clock.advance(LONG_TTL_MS * 0.34);
      await lab.events.next("holdfast:lock:renewed");
      await lease.release();
      const foreign = await waiter.lease;
      order.push("abroad");
      await foreign.release();
      await local;
      assert.deepEqual(order, ["abroad", "home"]);
    },
  },
  {
    name: "the next turn's lease is judged by its own release, not by the one before",
    covers: ["etcd #22082: a stale unlock frees a newer lock"],
    needs: ["peek"],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const mutex = holdfast.mutex(lab.name(), { ttl: LONG_TTL_MS });
      const first = await mutex.acquire();
      const waiting = mutex.acquire();
      await first.release();
      const second = await waiting;
      assert.equal(await first.release(), "released");
      assert.equal(second.valid, true);
      assert.notEqual(await lab.peek.leftMs(mutex.name), null);
      assert.equal(await second.release(), "released");
    },
  },
];
