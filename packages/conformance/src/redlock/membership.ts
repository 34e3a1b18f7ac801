/** Which nodes have a vote: memories that went back, and servers that are no node of their own. */
import assert from "node:assert/strict";
import { NoQuorumError } from "holdfast";
import { assertLost } from "../mutex/renewal.js";
import { assertFree, take } from "../mutex/rivals.js";
import { outcome } from "../outcome.js";
import { rejection } from "../rejection.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import type { RedlockCase, RedlockLab } from "./lab.js";
import type { LabNode } from "./node.js";
import { assertClean, assertNotGranted, CALL_MS, places } from "./places.js";

const TERMS = { ttl: LONG_TTL_MS };
const THIRD_MS = LONG_TTL_MS / 3;

/** A place that has a vote, and one that may fail beside it. */
const first = (lab: RedlockLab): LabNode => lab.nodes[0] as LabNode;

export const membershipCases: readonly RedlockCase[] = [
  {
    name: "a node that came back with an older memory drops what it held: its seat renews nothing",
    covers: [
      "safety.md 6.2: a node rolls back and its old holder confirms, a duplicate",
      "safety.md 6.5 (7)",
    ],
    needs: ["rollback", "proxy"],
    waits: true,
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires, callTimeout: CALL_MS });
      const count = lab.nodes.length;
      const name = lab.name();
      const lease = await take(locks, name, TERMS);
      await until("a seat at the node", async () => (await first(lab).store.leftMs(name)) !== null);
      await first(lab).save();
      await first(lab).rollBack();
      assert.notEqual(await first(lab).store.leftMs(name), null, "it remembers the seat");
      await lab.settled(locks);
      // With the seat that it remembers the rest would be a quorum; without it they are one too few.
      const silent = places(count).slice(lab.quorum);
      for (const place of silent) wires.at(place).set({ up: "hold" }, "commands");
      const { passedMs } = await outcome(lost(lab), clock, 100);
      assert.ok(passedMs <= LONG_TTL_MS, `${passedMs} ms`);
      assertLost(lease, "expired");
      assert.equal(
        lab.events.all("holdfast:lock:renewed").length,
        0,
        "a seat of another life renewed the lease",
      );
      assert.equal(await lease.release(), "lapsed");
      wires.heal();
      await assertClean(lab, name, places(count), clock);
    },
  },
  {
    name: "a node that came back with an older memory is taken back in, with a new seat, while the quorum holds",
    covers: ["safety.md 6.2: holder keys dropped on rejoin"],
    needs: ["rollback"],
    async run(lab) {
      const clock = lab.manualClock();
      const [locks, rival] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(locks, name, TERMS);
      const { store } = first(lab);
      const before = await until("a seat at the node", () => store.holder(name));
      await first(lab).save();
      await first(lab).rollBack();
      await until("another seat", async () => {
        clock.advance(THIRD_MS / 10);
        await lab.settled(locks);
        const now = await store.holder(name);
        return now !== null && now.id !== before.id && now.token > before.token;
      });
      assert.equal(lease.valid, true);
      assert.equal(await lease.release(), "released");
      await assertClean(lab, name, places(lab.nodes.length));
      await assertFree(rival, name);
    },
  },
  {
    name: "one server that is given twice has no vote, and the error says so",
    covers: [],
    needs: [],
    async run(lab) {
      const locks = await lab.over([first(lab), first(lab), lab.nodes[1] as LabNode]);
      const told = await locks.redlock.nodes();
      const refused = told.filter((node) => node.membership === "refused");
      assert.ok(refused.length > 0, JSON.stringify(told));
      for (const node of refused) assert.match(String(node.reason), /same server|twice/i);
      // Those two alone must never be a quorum.
      const name = lab.name();
      await lab.nodes[1]?.store.seize(name);
      await assertNotGranted(locks.mutex(name, TERMS).tryAcquire());
      await assertClean(lab, name, [0]);
    },
  },
  {
    name: "a replica has no vote, and the others go on",
    covers: ["locks.md: a replica answers for its primary"],
    needs: ["redis"],
    async run(lab) {
      const copy = lab.nodes.at(-1) as LabNode;
      const locks = await lab.holdfast();
      await copy.follow(first(lab));
      const told = (await locks.redlock.nodes()).at(-1);
      assert.equal(told?.membership, "refused");
      assert.match(String(told?.reason), /replica/i);
      const lease = await take(locks, lab.name(), TERMS);
      assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "a node that does not tell its uptime has no vote, and the error names the command",
    covers: [],
    needs: ["redis"],
    async run(lab) {
      const shy = lab.nodes.slice(0, lab.nodes.length - lab.quorum + 1);
      const locks = await lab.holdfast();
      for (const node of shy) await node.forbidInfo();
      const told = (await locks.redlock.nodes())[0];
      assert.equal(told?.membership, "refused");
      assert.match(String(told?.reason), /INFO/i);
      const error = await rejection(locks.mutex(lab.name(), TERMS).tryAcquire());
      assert.ok(error instanceof NoQuorumError, String(error));
      assert.match(error.message, /INFO/i);
      for (const node of shy) await node.mend();
    },
  },
];

async function lost(lab: RedlockLab): Promise<void> {
  await lab.events.next("holdfast:lock:lost");
}
