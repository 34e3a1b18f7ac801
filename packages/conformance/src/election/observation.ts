/** Cases of those who want to know who leads. */
import assert from "node:assert/strict";
import type { Leader } from "holdfast";
import type { NounCase } from "../case.js";
import { LONG_TTL_MS } from "../standing.js";
import { until, within } from "../wait.js";
import { lockOf } from "./candidates.js";

/** Takes states until one fits. */
async function untilSeen(
  observed: AsyncIterableIterator<Leader | null>,
  what: string,
  fits: (leader: Leader | null) => boolean,
): Promise<void> {
  const see = async (): Promise<void> => {
    for (;;) {
      const { value, done } = await observed.next();
      assert.ok(!done, `ended before ${what}`);
      if (fits(value as Leader | null)) return;
    }
  };
  await within(see(), what);
}

export const observationCases: readonly NounCase[] = [
  {
    name: "nobody leads an election that nobody ever stood for, and an observer hears of the first leader",
    covers: ["Curator: TestLeaderLatch.testUncreatedPathGetLeader"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [a, b] = [await lab.holdfast(), await lab.holdfast()];
      const election = b.election(name);
      assert.deepEqual([await election.leader(), await election.candidates()], [null, []]);
      const observed = election.observe();
      assert.equal((await observed.next()).value, null);
      const leader = await a.election(name, { value: { at: "a" } }).campaign();
      await untilSeen(observed, "the leader is seen with its value", (seen) => {
        if (!seen?.announced) return false;
        assert.deepEqual([seen.term, seen.value], [leader.term, { at: "a" }]);
        return true;
      });
      await observed.return?.();
    },
  },
  {
    name: "an observer hears of a resignation, and of each leader after it",
    covers: ["etcd: Observe never reports that nobody leads"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [a, b, c] = [await lab.holdfast(), await lab.holdfast(), await lab.holdfast()];
      const observed = c.election(name).observe();
      for (const [holdfast, value] of [
        [a, "a"],
        [b, "b"],
      ] as const) {
        const leader = await holdfast.election(name, { value }).campaign();
        await untilSeen(observed, `${value} is seen`, (seen) => seen?.value === value);
        await leader.resign();
        await untilSeen(observed, "nobody is seen", (seen) => seen === null);
      }
      await observed.return?.();
    },
  },
  {
    name: "an observer learns that nobody leads when a leader died without a word",
    covers: ["Curator: TestLeaderSelector.testKillSessionThenCloseShouldElectNewLeader"],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      const doomed = await lab.spawn();
      const term = await doomed.perform(async ({ holdfast: its, kept }, of) => {
        const leadership = await its.election(of, { term: 500, value: "doomed" }).campaign();
        kept["leadership"] = leadership;
        return leadership.term;
      }, name);
      const observed = holdfast.election(name).observe();
      await untilSeen(observed, "the leader is seen", (seen) => seen?.term === term);
      await doomed.kill();
      await untilSeen(observed, "nobody is seen", (seen) => seen === null);
      await observed.return?.();
      const next = await holdfast.election(name).campaign();
      assert.ok(next.term > term);
    },
  },
  {
    name: "an observer never reports a leader whom the server has forgotten",
    covers: ["Curator: TestLeaderSelector.testLeaderNodeDeleteOnInterrupt"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const clock = lab.manualClock();
      const [a, b] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const leader = await a.election(name, { term: LONG_TTL_MS, value: "phantom" }).campaign();
      await lab.command("DEL", lockOf(lab, name));
      // The record still has the value.
      assert.equal((await b.record(`election:${name}`).get())?.value, "phantom");
      assert.equal(await b.election(name).leader(), null);
      assert.equal((await b.election(name).observe().next()).value, null);
      clock.advance(LONG_TTL_MS / 3);
      await until("the leader knows", () => !leader.valid);
      assert.equal((leader.signal.reason as { reason?: string }).reason, "forgotten");
    },
  },
  {
    name: "a leader whose announcement is refused leads without a value, and says so",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [a, b] = [await lab.holdfast(), await lab.holdfast()];
      const key = `${lab.prefix}:{election:${name}}:record:election:${name}`;
      await lab.command("SET", key, "of another program");
      const leader = await a.election(name, { value: 1 }).campaign();
      assert.deepEqual([leader.valid, leader.announced], [true, false]);
      const { announced } = await lab.events.next(
        "holdfast:election:elected",
        ({ term }) => term === leader.term,
      );
      assert.equal(announced, false);
      await lab.command("DEL", key);
      await until("it is announced later", () => leader.announced);
      assert.equal((await b.election(name).leader())?.value, 1);
    },
  },
];
