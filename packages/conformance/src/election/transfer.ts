/** Cases of an election that is handed over. */
import assert from "node:assert/strict";
import type { NounCase } from "../case.js";
import { LONG_TTL_MS } from "../standing.js";
import { until, within } from "../wait.js";
import { stand } from "./candidates.js";

export const transferCases: readonly NounCase[] = [
  {
    name: "a transfer reaches the candidate that is named by its label, past those before it, who keep their order",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const a = await lab.holdfast({ label: "a" });
      const leader = await a.election(name).campaign();
      const b = await stand(await lab.holdfast({ label: "b" }), name);
      const c = await stand(await lab.holdfast({ label: "c" }), name);
      const d = await stand(await lab.holdfast({ label: "d" }), name);
      const handing = leader.transfer("c");
      assert.equal(leader.valid, false);
      const successor = await handing;
      const next = await within(c.elected, "the named one leads");
      assert.deepEqual([successor?.id, successor?.term, successor?.label], [next.id, next.term, "c"]);
      assert.ok(next.term > leader.term);
      assert.deepEqual(
        (await a.election(name).candidates()).map(({ label }) => label),
        ["b", "d"],
      );
      assert.equal((await next.transfer(d.candidate.id))?.id, (await within(d.elected, "by id")).id);
      assert.equal(
        (await (await d.elected).transfer())?.id,
        (await within(b.elected, "the first in line")).id,
      );
    },
  },
  {
    name: "a transfer to somebody who is not there leaves the leader in office, in the same term",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const clock = lab.manualClock();
      const [a, b] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const leader = await a.election(name, { term: LONG_TTL_MS }).campaign();
      assert.equal(await leader.transfer(), null);
      const controller = new AbortController();
      const { candidate } = await stand(b, name, { signal: controller.signal });
      controller.abort();
      await until("nobody stands", async () => (await a.election(name).candidates()).length === 0);
      assert.equal(await leader.transfer(candidate.id), null);
      leader.check();
      assert.equal(leader.signal.aborted, false);
      clock.advance(LONG_TTL_MS / 3);
      await lab.events.next("holdfast:lock:renewed");
      assert.equal((await b.election(name).leader())?.term, leader.term);
    },
  },
  {
    name: "a transfer to a process that was killed leaves the leader in office",
    covers: [],
    needs: ["spawn"],
    async run(lab) {
      const name = lab.name();
      const a = await lab.holdfast();
      const election = a.election(name);
      const leader = await election.campaign();
      const doomed = await lab.spawn();
      await doomed.perform(({ holdfast }, of) => {
        holdfast
          .election(of)
          .campaign()
          .catch(() => {});
      }, name);
      await until("it stands", async () => (await election.candidates()).length === 1);
      const inboxes = async () =>
        (await lab.command("PUBSUB", "CHANNELS", `${lab.prefix}:inbox:*`)) as readonly string[];
      const before = await inboxes();
      await doomed.kill();
      await until("the server knows of its end", async () => {
        const left = await inboxes();
        return before.some((inbox) => !left.includes(inbox));
      });
      assert.equal(await leader.transfer(), null);
      leader.check();
      const { elected } = await stand(await lab.holdfast(), name);
      assert.ok(await leader.transfer());
      assert.ok((await within(elected, "one who lives leads")).valid);
    },
  },
  {
    name: "a transfer without an answer ends the leadership, and somebody leads",
    covers: [],
    needs: ["proxy"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const a = await lab.holdfast({ through: proxy, callTimeout: 500 });
      const b = await lab.holdfast();
      const leader = await a.election(name, { term: 2_000 }).campaign();
      const { elected } = await stand(b, name, { term: 2_000 });
      proxy.forget();
      const handing = leader.transfer().catch((reason: unknown) => reason);
      await proxy.when("it has read the line, and sent the transfer", () => proxy.scriptCalls.length === 2);
      proxy.set({ down: "hold" }, "commands");
      const error = await handing;
      assert.equal((error as { code?: string }).code, "INDETERMINATE");
      assert.equal(leader.valid, false);
      proxy.heal();
      assert.ok((await within(elected, "the candidate leads")).valid);
    },
  },
];
