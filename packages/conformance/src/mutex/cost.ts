/** Cost: how many requests what takes, counted at the proxy. */
import assert from "node:assert/strict";
import type { LockCase } from "../case.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import { standInLine, take } from "./rivals.js";

const THIRD_MS = LONG_TTL_MS / 3;
const HOUR_MS = 3_600_000;

export const costCases: readonly LockCase[] = [
  {
    name: "an uncontended acquire and release is two requests",
    covers: ["redis-semaphore: 92 requests a second per waiter", "common-voice: redlock polling"],
    needs: ["proxy", "single"],
    async run(lab) {
      const [clock, proxy] = [lab.manualClock(), await lab.proxy()];
      // A holder listens for hand-overs once it has held for a moment: here it never does, however slow the machine.
      const mutex = (await lab.holdfast({ clock, through: proxy })).mutex(lab.name());
      // What is not loaded yet releases by another script. From here on the server has those of the rounds.
      await mutex.run(() => {});
      proxy.forget();
      const sent = (): string[] => proxy.requests.map(([verb = ""]) => verb.toUpperCase());
      for (let round = 1; round <= 5; round++) {
        const lease = await mutex.acquire();
        assert.deepEqual(sent(), Array(2 * round - 1).fill("EVALSHA"));
        assert.equal(await lease.release(), "released");
        assert.deepEqual(sent(), Array(2 * round).fill("EVALSHA"));
      }
    },
  },
  {
    name: "calls made in one tick leave in one request",
    covers: ["DistributedLock: multiplexing"],
    needs: ["proxy", "single"],
    async run(lab) {
      const [clock, proxy] = [lab.manualClock(), await lab.proxy()];
      const holdfast = await lab.holdfast({ clock, through: proxy });
      await holdfast.mutex(lab.name()).run(() => {});
      const mutexes = Array.from({ length: 16 }, () => holdfast.mutex(lab.name(), { ttl: LONG_TTL_MS }));
      proxy.forget();
      const leases = await Promise.all(mutexes.map((mutex) => mutex.acquire()));
      assert.deepEqual([proxy.requests.length, proxy.writes], [1, 1]);
      proxy.forget();
      await Promise.all(leases.map((lease) => lease.release()));
      assert.deepEqual([proxy.requests.length, proxy.writes], [1, 1]);
    },
  },
  {
    name: "a Holdfast that holds nothing and waits for nothing sends nothing",
    covers: [],
    needs: ["proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ clock, through: proxy });
      await holdfast.mutex(lab.name()).run(() => {});
      await lab.settled(holdfast);
      proxy.forget();
      clock.advance(HOUR_MS);
      await lab.settled(holdfast);
      assert.equal(proxy.scriptCalls.length, 0);
    },
  },
  {
    name: "a wait costs a few signs of life per ttl, and a contended acquire and release two requests",
    covers: ["discourse/mini_scheduler: CPU burnt by polling", "redis-semaphore: polling"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      // The clock must run out no ping of the inbox, however late its answer is: a new connection makes every wait ask once more.
      const callTimeout = 20 * LONG_TTL_MS;
      const holder = await lab.holdfast();
      const waiting = await lab.holdfast({ clock, through: proxy, callTimeout });
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const first = await standInLine(lab, waiting, name, 1);
      await lease.release();
      await (await first.lease).release();
      const again = await take(holder, name, { ttl: LONG_TTL_MS });
      await lab.settled(waiting);
      proxy.forget();
      const second = await standInLine(lab, waiting, name, 1);
      // The name was contended a moment ago: the process does not ask first whether it is free. Over a quorum it does, and confirms
      // a grant.
      const most = lab.silence.code === "NO_QUORUM" ? 2 : 1;
      assert.ok(proxy.scriptCalls.length <= most, `${proxy.scriptCalls.length} requests to stand in line`);
      proxy.forget();
      const ttls = 10;
      for (let step = 0; step < ttls * 10; step++) {
        clock.advance(LONG_TTL_MS / 10);
        await lab.settled(waiting);
      }
      assert.ok(proxy.scriptCalls.length <= ttls * 5, `${proxy.scriptCalls.length} signs of life`);
      assert.ok(proxy.scriptCalls.length >= ttls * 2, `${proxy.scriptCalls.length} signs of life`);
      proxy.forget();
      await again.release();
      assert.equal(await (await second.lease).release(), "released");
      assert.ok(proxy.scriptCalls.length <= most, `${proxy.scriptCalls.length} requests from the grant on`);
    },
  },
  {
    name: "many waits give their signs of life together",
    covers: [],
    needs: ["peek", "tamper", "proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const waiting = await lab.holdfast({ clock, through: proxy });
      const names = Array.from({ length: 150 }, () => lab.name());
      await Promise.all(names.map((name) => lab.tamper.seize(name)));
      const waits = names.map((name) =>
        waiting
          .mutex(name, { ttl: LONG_TTL_MS })
          .acquire({ wait: LONG_TTL_MS * 10 })
          .catch(() => "ended"),
      );
      for (const name of names) {
        await until("it stands in line", async () => (await lab.peek.waiting(name)) === 1);
      }
      await lab.settled(waiting);
      proxy.forget();
      clock.advance(THIRD_MS);
      await proxy.when("every wait gave a sign", () => {
        const keys = proxy.scriptCalls.map((words) => Number(words[2]));
        return keys.reduce((sum, count) => sum + count, 0) >= names.length * 4;
      });
      assert.ok(proxy.scriptCalls.length <= names.length / 5, `${proxy.scriptCalls.length} requests`);
      await waiting.close();
      assert.ok((await Promise.all(waits)).every((outcome) => outcome === "ended"));
    },
  },
];
