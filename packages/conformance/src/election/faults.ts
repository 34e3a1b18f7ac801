/** Cases of elections among processes that stand still, die or cannot reach the server. */
import assert from "node:assert/strict";
import type { Leadership } from "holdfast";
import type { NounCase } from "../case.js";
import { until, within } from "../wait.js";
import { lockOf, stand } from "./candidates.js";

export const faultCases: readonly NounCase[] = [
  {
    name: "a leader whose term ended loses, a peer leads, and the old one does not come back",
    covers: ["Curator: TestLeaderLatch.testSessionInterruptionDoNotCauseBrainSplit"],
    needs: [],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const clock = lab.manualClock(); // stands still: it renews nothing
      const [a, b] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const election = a.election(name, { term: 400 });
      const old = await election.campaign();
      const { elected } = await stand(b, name, { term: 5_000 });
      clock.stall(400);
      assert.equal(old.valid, false);
      assert.equal((old.signal.reason as { reason?: string }).reason, "expired");
      const next = await within(elected, "the peer leads");
      assert.ok(next.term > old.term);
      assert.equal(await election.campaign({ wait: 0 }), null);
      assert.deepEqual([old.valid, next.valid, await old.resign()], [false, true, "lapsed"]);
      assert.ok(next.valid);
    },
  },
  {
    name: "a leader whose lock was deleted knows by its next renewal, and whoever asks leads",
    covers: [
      "Curator: TestLeaderLatch.testWatchedNodeDeletedOnReconnect",
      "Curator: TestLeaderLatch.testLeadershipElectionWhenNodeDisappearsAfterChildrenAreRetrieved",
      "Curator: TestLeaderLatch.testResettingOfLeadershipAfterConcurrentLeadershipChange",
    ],
    needs: [],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const [a, b] = [await lab.holdfast(), await lab.holdfast()];
      const old = await a.election(name, { term: 600 }).campaign();
      const { elected } = await stand(b, name);
      await lab.command("DEL", lockOf(lab, name));
      const next = await within(elected, "the candidate leads");
      assert.ok(next.term > old.term);
      await until("the old leader knows", () => !old.valid);
      assert.ok(next.valid);
    },
  },
  {
    name: "when a leader is killed, the next in line leads after the rest of its term",
    covers: ["Curator: TestLeaderSelector.testKillSessionThenCloseShouldElectNewLeader"],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const doomed = await lab.spawn();
      const term = await doomed.perform(async ({ holdfast, kept }, of) => {
        const leadership = await holdfast.election(of, { term: 500 }).campaign();
        kept["leadership"] = leadership;
        return leadership.term;
      }, name);
      const { elected } = await stand(await lab.holdfast(), name, { term: 500 });
      await doomed.kill();
      assert.ok((await within(elected, "the next leads")).term > term);
    },
  },
  {
    name: "a leader that was stopped beyond its term does not believe that it leads when it goes on",
    covers: ["Curator: leaders have no deadline of their own"],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const paused = await lab.spawn();
      await paused.perform(async ({ holdfast, kept }, of) => {
        kept["leadership"] = await holdfast.election(of, { term: 400 }).campaign();
      }, name);
      const { elected } = await stand(await lab.holdfast(), name, { term: 5_000 });
      await paused.freeze();
      const next = await within(elected, "the next leads");
      await paused.thaw();
      const believes = await paused.perform(({ kept }) => (kept["leadership"] as Leadership).valid, null);
      assert.deepEqual([believes, next.valid], [false, true]);
    },
  },
  {
    name: "a connection that is away for less than a term costs nobody the office",
    covers: ["Curator: TestLeaderLatch.testErrorPolicies (suspended)"],
    needs: ["proxy"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const a = await lab.holdfast({ through: proxy, callTimeout: 300 });
      const leader = await a.election(name, { term: 3_000 }).campaign();
      await stand(await lab.holdfast(), name);
      proxy.refuse();
      await until("it cannot renew", () => proxy.connections === 0);
      proxy.heal();
      await lab.events.next("holdfast:lock:renewed", ({ lost }) => lost === 0);
      leader.check();
    },
  },
  {
    name: "a connection that is away for a term ends the leadership by the leader's own clock, without an answer",
    covers: ["Curator: TestLeaderLatch.testErrorPolicies (lost)", "k8s client-go: RenewDeadline"],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const clock = lab.manualClock();
      const a = await lab.holdfast({ through: proxy, clock });
      const leader = await a.election(name, { term: 5_000 }).campaign();
      proxy.set({ up: "hold", down: "hold" });
      for (let second = 0; second < 5; second += 1) clock.advance(1_000);
      assert.equal(leader.valid, false);
      assert.match(String(leader.signal.reason), /leadership of .* is over \(expired/);
      proxy.heal();
    },
  },
  {
    name: "a campaign that began while the server could not be reached is won when it can",
    covers: ["Curator: TestLeaderLatch.testNoServerAtStart"],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const a = await lab.holdfast({ through: proxy, callTimeout: 400 });
      proxy.refuse();
      const campaign = a.election(name).campaign();
      await lab.settled(await lab.holdfast());
      proxy.heal();
      assert.ok((await within(campaign, "it leads")).valid);
    },
  },
  {
    name: "a candidate who was cut off while another was elected never leads beside that one",
    covers: ["etcd#22387", "etcd#19597"],
    needs: ["proxy"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const first = await (await lab.holdfast()).election(name, { term: 1_000 }).campaign();
      const cut = await stand(await lab.holdfast({ through: proxy, callTimeout: 400 }), name, {
        term: 1_000,
      });
      const other = await stand(await lab.holdfast(), name, { term: 1_000 });
      proxy.set({ up: "drop", down: "drop" });
      let cutOffLeads = false;
      void cut.elected.then(() => {
        cutOffLeads = true;
      });
      await first.resign(); // to the one that cannot hear it; its lease lapses
      const leader = await within(other.elected, "the one who can be reached leads");
      proxy.heal();
      for (let renewal = 0; renewal < 3; renewal += 1) {
        await lab.events.next("holdfast:lock:renewed");
        assert.equal(cutOffLeads && leader.valid, false);
      }
      await leader.resign();
      assert.ok((await within(cut.elected, "it leads in its turn")).term > leader.term);
    },
  },
  {
    name: "a resignation without an answer can be repeated until there is one",
    covers: ["etcd#22123"],
    needs: ["proxy"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const a = await lab.holdfast({ through: proxy, callTimeout: 400 });
      const leader = await a.election(name, { term: 10_000 }).campaign();
      const { elected } = await stand(await lab.holdfast(), name);
      proxy.set({ up: "hold", down: "hold" });
      assert.equal(await leader.resign(), "unknown");
      assert.equal(leader.valid, false);
      proxy.heal();
      await until("it has an answer", async () => (await leader.resign()) !== "unknown");
      assert.equal(await leader.resign(), "released");
      assert.ok((await within(elected, "the next leads")).valid);
    },
  },
  {
    name: "a resignation wakes the next in line and nobody else",
    covers: ["Curator: TestLeaderLatch.testCorrectWatching (no herd)"],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const leader = await (await lab.holdfast()).election(name).campaign();
      const next = await stand(await lab.holdfast(), name);
      const last = await lab.holdfast({ through: proxy });
      await stand(last, name);
      await lab.settled(last);
      proxy.forget();
      await leader.resign();
      await within(next.elected, "the next leads");
      assert.deepEqual(proxy.scriptCalls, []);
    },
  },
  {
    name: "a server that comes back without its memory has a leader again, for a larger term, and the old one knows",
    covers: ["Curator: TestLeaderSelector.testServerDying"],
    needs: ["restart"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const [a, b] = [await lab.holdfast({ callTimeout: 500 }), await lab.holdfast({ callTimeout: 500 })];
      const old = await a.election(name, { term: 1_000 }).campaign();
      const observed = b.election(name).observe();
      assert.equal((await observed.next()).value?.term, old.term);
      const { elected } = await stand(b, name, { term: 1_000 });
      await lab.restartServer();
      const next = await within(elected, "the candidate leads");
      assert.ok(next.term > old.term);
      await until("the old leader knows", () => !old.valid);
      await until("the observer knows", async () => (await observed.next()).value?.term === next.term);
      await observed.return?.();
    },
  },
];
