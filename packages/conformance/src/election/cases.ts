/** Every case that an election must pass. */
import assert from "node:assert/strict";
import type { Leadership } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { until, within } from "../wait.js";
import { lockOf, stand } from "./candidates.js";
import { faultCases } from "./faults.js";
import { observationCases } from "./observation.js";
import { transferCases } from "./transfer.js";

const inOrder: readonly NounCase[] = [
  {
    name: "candidates lead one at a time, in the order in which they came, each for a larger term",
    covers: [
      "Curator: TestLeaderSelector.testRotatingLeadership",
      "Curator: TestLeaderSelectorParticipants (ids and one leader)",
    ],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [a, b, c] = [
        await lab.holdfast({ label: "a" }),
        await lab.holdfast({ label: "b" }),
        await lab.holdfast(),
      ];
      const first = await a.election(name).campaign();
      const second = await stand(b, name);
      const third = await stand(c, name);
      const election = a.election(name);
      assert.deepEqual(
        (await election.candidates()).map(({ id }) => id),
        [second.candidate.id, third.candidate.id],
      );
      assert.equal(second.candidate.label, "b");
      const leader = await election.leader();
      assert.deepEqual([leader?.id, leader?.term, leader?.label], [first.id, first.term, "a"]);
      assert.equal(await first.resign(), "released");
      const next = await within(second.elected, "the second leads");
      assert.deepEqual([next.id, first.valid, next.valid], [second.candidate.id, false, true]);
      await next.resign();
      const last = await within(third.elected, "the third leads");
      assert.ok(first.term < next.term && next.term < last.term);
    },
  },
  {
    name: "a candidate who gives up leaves the line at once, however quickly it came and went",
    covers: ["Curator: TestLeaderLatch.testCreateDeleteRace", "Curator: TestLeaderLatch.testResetRace"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [a, b, c] = [await lab.holdfast(), await lab.holdfast(), await lab.holdfast()];
      const leader = await a.election(name).campaign();
      const hasty = b.election(name);
      for (let round = 0; round < 10; round += 1) {
        const controller = new AbortController();
        const campaign = hasty.campaign({ signal: controller.signal });
        if (round % 2 === 1) await lab.settled(b);
        controller.abort(new Error("another plan"));
        assert.match(String(await rejection(campaign)), /another plan/);
      }
      const { elected } = await stand(c, name);
      await until("nobody else stands", async () => (await hasty.candidates()).length === 1);
      await leader.resign();
      assert.ok((await within(elected, "the one who stayed leads")).valid);
    },
  },
  {
    name: "a leader stays in office by renewal, term after term, while others stand for election",
    covers: ["k8s client-go: the incumbent is favoured"],
    needs: [],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const [a, b] = [await lab.holdfast(), await lab.holdfast()];
      const leader = await a.election(name, { term: 2_000 }).campaign();
      await stand(b, name, { term: 2_000 });
      for (let renewal = 0; renewal < 2; renewal += 1) await lab.events.next("holdfast:lock:renewed");
      assert.ok(leader.valid);
      assert.equal((await b.election(name).leader())?.term, leader.term);
    },
  },
  {
    name: "a leadership taken away by an operator is over, and its process stands at the end of the line when it asks again",
    covers: [
      "Curator: TestLeaderSelector.testInterruptLeadershipWithRequeue",
      "Curator: TestLeaderSelector.testAutoRequeue",
    ],
    needs: [],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const [a, b] = [await lab.holdfast(), await lab.holdfast()];
      const election = a.election(name, { term: 3_000 });
      const leader = await election.campaign();
      const { elected } = await stand(b, name, { term: 3_000 });
      await (await b.inspector()).forceRelease(`election:${name}`);
      const next = await within(elected, "the next leads");
      await until("the old leader knows", () => !leader.valid);
      const again = election.campaign();
      await until("it stands behind the new leader", async () => (await election.candidates()).length === 1);
      await next.resign();
      assert.ok((await within(again, "it leads again")).term > next.term);
    },
  },
  {
    name: "close() ends a leadership, tells its signal, and lets the next candidate lead at once",
    covers: ["Curator: TestLeaderLatch.testCallbackNotifyLeader"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [a, b] = [await lab.holdfast(), await lab.holdfast()];
      const leader = await a.election(name).campaign();
      const { elected } = await stand(b, name);
      await a.close();
      assert.equal((leader.signal.reason as { code?: string }).code, "LEASE_LOST");
      assert.match(String(rejectionOf(leader)), /the leadership of '.*' \(term \d+\) is over \(closed\)/s);
      assert.ok((await within(elected, "the next leads")).valid);
    },
  },
  {
    name: "elections with hostile names are distinct, and leave nothing behind under other names",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const names = ["", ":", "{", "}", " ", "\n", "\u{1f600}", "election:"].map((end) =>
        lab.name(`n${end}`),
      );
      const terms = new Map<string, bigint>();
      for (const name of names) {
        const leadership = await holdfast.election(name, { value: name }).campaign({ wait: 0 });
        assert.ok(leadership, `'${name}' was led by somebody`);
        terms.set(name, leadership.term);
      }
      for (const name of names) {
        const leader = await holdfast.election(name).leader();
        assert.deepEqual([leader?.value, leader?.term], [name, terms.get(name)]);
      }
    },
  },
];

function rejectionOf(leadership: Leadership): unknown {
  try {
    leadership.check();
  } catch (error) {
    return error;
  }
  return assert.fail("check() did not throw");
}

const terms: readonly NounCase[] = [
  {
    name: "the writes of a leader who was overtaken are refused by a record that the next one has written to",
    covers: ["etcd: Txn If(CreateRevision == rev)"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [a, b] = [await lab.holdfast(), await lab.holdfast()];
      const old = await a.election(name).campaign();
      const record = a.record<string>(lab.name("guarded"));
      await record.put("old", { fence: old });
      await lab.command("DEL", lockOf(lab, name));
      const next = await b.election(name).campaign();
      await b.record<string>(record.name).put("new", { fence: next });
      assert.equal(
        ((await rejection(record.put("late", { fence: old }))) as { code?: string }).code,
        "STALE_TOKEN",
      );
      assert.equal((await record.get())?.value, "new");
    },
  },
  {
    name: "a term is above every announced one, although the server forgot the lock and its clock was ahead",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [a, b] = [await lab.holdfast(), await lab.holdfast()];
      const first = await a.election(name, { value: "first" }).campaign();
      const ahead = { fence: first.term + 60_000_000n, id: "a leader on a server whose clock was ahead" };
      await a.record(`election:${name}`).put("ahead", { fence: ahead });
      await lab.command("DEL", lockOf(lab, name));
      const second = await b.election(name, { value: "second" }).campaign();
      assert.ok(second.term > ahead.fence);
      assert.equal((await a.election(name).leader())?.value, "second");
    },
  },
  {
    name: "terms beyond 2^53 rise one by one, exactly, in the lock, in the record and for those who ask",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [a, b] = [await lab.holdfast(), await lab.holdfast()];
      const top = 2n ** 53n + 1n;
      await lab.command("SET", lockOf(lab, name), `${top} `, "PX", "60000");
      const first = await a.election(name, { value: 1 }).campaign();
      const second = await stand(b, name, { value: 2 });
      await first.resign();
      const next = await within(second.elected, "the second leads");
      assert.deepEqual([first.term, next.term], [top + 1n, top + 2n]);
      assert.equal((await a.election(name).leader())?.term, top + 2n);
      assert.equal((await a.record(`election:${name}`).get())?.fence, top + 2n);
    },
  },
];

export const electionCases: readonly NounCase[] = [
  ...inOrder,
  ...terms,
  ...transferCases,
  ...observationCases,
  ...faultCases,
];
