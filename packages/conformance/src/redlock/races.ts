/** Contenders at once, and votes that are split between them. No clock moves unless the case says so: nobody may need a poll. */
import assert from "node:assert/strict";
import type { Lease } from "holdfast";
import type { ManualClock } from "../clock.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import type { QuorumLocks, RedlockCase, RedlockLab } from "./lab.js";
import { assertClean, assignments, others, places, seizeAt } from "./places.js";
import type { Wires } from "./wires.js";

const ENDLESS = { wait: Number.POSITIVE_INFINITY };
const TERMS = { ttl: LONG_TTL_MS, localTurns: 1 };
/** As long a step of the clock as leaves every answer in time. */
const STEP_MS = 500;

interface Contender {
  readonly clock: ManualClock;
  readonly wires: Wires;
  readonly locks: QuorumLocks;
}

async function contenders(lab: RedlockLab, count: number): Promise<Contender[]> {
  const made: Contender[] = [];
  for (let each = 0; each < count; each++) {
    const [clock, wires] = [lab.manualClock(), await lab.proxy()];
    made.push({ clock, wires, locks: await lab.holdfast({ clock, through: wires }) });
  }
  return made;
}

/** Everybody wants the name at once, and gives it back as soon as it has looked whether it is alone. */
function served(lab: RedlockLab, rivals: readonly Contender[], name: string): Promise<unknown> {
  let inside = 0;
  let last = 0n;
  const section = async (lease: Lease): Promise<void> => {
    inside += 1;
    assert.equal(inside, 1, "two hold it at once");
    assert.ok(lease.fence > last, `token ${lease.fence} after ${last}`);
    last = lease.fence;
    await lab.peek.leftMs(name); // a round trip, so that others could come in
    assert.equal(lease.valid, true);
    inside -= 1;
  };
  return Promise.all(rivals.map(({ locks }) => locks.mutex(name, TERMS).run(section, ENDLESS)));
}

/** For each node the contender that gets its vote; null: a stranger holds it. */
type Votes = readonly (number | null)[];

/** Whether this split stands for those that differ from it only by which of the nodes, all alike, comes first. */
function isFirstOfItsTurns(votes: Votes): boolean {
  const turned = (by: number): Votes => [...votes.slice(by), ...votes.slice(0, by)];
  return places(votes.length).every((by) => String(votes) <= String(turned(by)));
}

/**
 * Every split of these nodes between so many contenders of whom none has a quorum, and all of them together have one. Of those
 * that are turns of each other, one.
 */
function splits(nodes: number, rivals: number, quorum: number): readonly Votes[] {
  return assignments(nodes, [null, ...places(rivals)]).filter((votes) => {
    const seats = (of: number): number => votes.filter((vote) => vote === of).length;
    const each = places(rivals).map(seats);
    const isSplit = each.every((has) => has > 0 && has < quorum);
    const isEnough = votes.filter((vote) => vote !== null).length >= quorum;
    return isSplit && isEnough && isFirstOfItsTurns(votes);
  });
}

/** Each node's vote goes to the contender that is named for it, in the order of contenders, and everybody waits for the rest. */
async function split(
  lab: RedlockLab,
  rivals: readonly Contender[],
  name: string,
  votes: Votes,
): Promise<{ readonly done: Promise<unknown>; readonly assertUntouched: () => Promise<void> }> {
  const foreign = places(votes.length).filter((place) => votes[place] === null);
  const assertUntouched = await seizeAt(lab, name, foreign);
  const ours = others(votes.length, foreign);
  for (const { wires } of rivals) for (const place of ours) wires.at(place).set({ up: "hold" }, "commands");
  const done = served(lab, rivals, name);
  done.catch(() => {}); // the case looks at it when it comes to that
  for (const [each, { wires }] of rivals.entries()) {
    const own = ours.filter((place) => votes[place] === each);
    for (const place of own) wires.at(place).set({ up: "pass" }, "commands");
    for (const place of own)
      await until(
        `node ${place} has voted`,
        async () => (await lab.nodes[place]?.store.leftMs(name)) !== null,
      );
  }
  return { done, assertUntouched };
}

function firstSplit({ nodes, quorum }: RedlockLab): Votes {
  return splits(nodes.length, 2, quorum)[0] as Votes;
}

async function race(lab: RedlockLab, count: number, rounds: number): Promise<void> {
  const rivals = await contenders(lab, count);
  for (let round = 0; round < rounds; round++) {
    const name = lab.name();
    await served(lab, rivals, name);
    await assertClean(lab, name, places(lab.nodes.length));
  }
}

export const raceCases: readonly RedlockCase[] = [
  {
    name: "of three contenders at once exactly one holds the lock, and all are served in turn without a clock",
    covers: ["RedLock.net: TestRaceForQuorum", "redlock-universal: split brain"],
    needs: ["peek", "proxy"],
    run: (lab) => race(lab, 3, 10),
  },
  {
    name: "of five contenders at once exactly one holds the lock, and all are served in turn without a clock",
    covers: ["RedLock.net: TestRaceForQuorumMultiple"],
    needs: ["peek", "proxy"],
    run: (lab) => race(lab, 5, 6),
  },
  {
    name: "attempts at once give the lock to one at most, and what the others got is free again at once",
    covers: ["RedLock.net: TestRaceForQuorum", "locks.md R12: partial locks"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const rivals = await contenders(lab, 3);
      for (let round = 0; round < 10; round++) {
        const name = lab.name();
        const leases = await Promise.all(rivals.map(({ locks }) => locks.mutex(name, TERMS).tryAcquire()));
        const won = leases.filter((lease) => lease !== null);
        assert.ok(won.length <= 1, `${won.length} winners in round ${round}`);
        for (const lease of won) assert.equal(await lease.release(), "released");
        await assertClean(lab, name, places(lab.nodes.length));
      }
    },
  },
  ...[2, 3].map(
    (count): RedlockCase => ({
      name: `a vote that is split between ${count} contenders is settled at once, without a clock, for every such split`,
      covers: ["redlock-universal: split brain", "safety.md 6: no contender has a quorum"],
      needs: ["peek", "proxy"],
      async run(lab) {
        const rivals = await contenders(lab, count);
        for (const votes of splits(lab.nodes.length, count, lab.quorum)) {
          const name = lab.name();
          const { done, assertUntouched } = await split(lab, rivals, name, votes);
          for (const { wires } of rivals) wires.heal();
          await done;
          const ours = places(votes.length).filter((place) => votes[place] !== null);
          await assertClean(lab, name, ours);
          await assertUntouched();
        }
      },
    }),
  ),
  {
    name: "a claim gives away a seat for which an earlier one asked before the answer with the grant came, without a clock",
    covers: ["redlock-universal: split brain"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const rivals = await contenders(lab, 2);
      const [early, late] = rivals as [Contender, Contender];
      const votes = firstSplit(lab);
      // A process that has waited once hears messages from then on.
      const before = await split(lab, rivals, lab.name(), votes);
      for (const { wires } of rivals) wires.heal();
      await before.done;
      const name = lab.name();
      const wire = late.wires.at(votes.indexOf(1));
      wire.set({ down: "hold" });
      const { done } = await split(lab, rivals, name, votes);
      early.wires.heal();
      await wire.when("the late contender is asked for its seat", () => wire.held("down", "inbox") > 0);
      wire.set({ down: "pass" }, "inbox");
      await lab.settled(early.locks);
      late.wires.heal();
      await done;
    },
  },
  {
    name: "a split vote whose messages are all lost is settled by the clock",
    covers: ["Redisson #1763: missed unlock message"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const rivals = await contenders(lab, 2);
      const name = lab.name();
      const votes = firstSplit(lab);
      const { done } = await split(lab, rivals, name, votes);
      for (const { wires } of rivals) {
        wires.heal();
        wires.set({ down: "drop" }, "inbox");
      }
      let over = false;
      const finish = (): void => {
        over = true;
      };
      done.then(finish, finish);
      await until("all are served", async () => {
        for (const { clock, locks } of rivals) {
          clock.advance(STEP_MS);
          await lab.settled(locks);
        }
        return over;
      });
      await done;
    },
  },
];
