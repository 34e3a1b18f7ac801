/** Every set of nodes that are held by strangers, silent, or unreachable: who gets the lock, and what is left. */
import assert from "node:assert/strict";
import type { Lease } from "holdfast";
import { NoQuorumError } from "holdfast";
import type { ManualClock } from "../clock.js";
import { outcome } from "../outcome.js";
import { rejection } from "../rejection.js";
import { LONG_TTL_MS } from "../standing.js";
import { within } from "../wait.js";
import type { QuorumLocks, RedlockCase, RedlockLab } from "./lab.js";
import { assertClean, assignments, CALL_MS, others, places, seizeAt, subsets } from "./places.js";
import type { Wires } from "./wires.js";

const TERMS = { ttl: LONG_TTL_MS };

interface Field {
  readonly clock: ManualClock;
  readonly wires: Wires;
  readonly locks: QuorumLocks;
}

/** One process, whose time stands still unless the case moves it: it can get a verdict by answers alone. */
async function field(lab: RedlockLab): Promise<Field> {
  const [clock, wires] = [lab.manualClock(), await lab.proxy()];
  return { clock, wires, locks: await lab.holdfast({ clock, through: wires, callTimeout: CALL_MS }) };
}

/** One attempt. It may fail before the case looks at it. */
function attemptAt(locks: QuorumLocks, name: string): Promise<Lease | null> {
  const attempt = locks.mutex(name, TERMS).tryAcquire();
  attempt.catch(() => {});
  return attempt;
}

/** The outcome of an attempt that no clock may be needed for. */
function soon<Value>(attempt: Promise<Value>): Promise<Value> {
  return within(attempt, "a verdict without a clock");
}

/** The lease goes back, at all nodes. */
async function giveBack(lab: RedlockLab, lease: Lease | null | undefined): Promise<void> {
  assert.ok(lease, "no lease although a quorum was free");
  assert.equal(lease.valid, true);
  assert.equal(await lease.release(), "released");
  assert.ok(lab.events.all("holdfast:lock:lost").length === 0);
}

export const maskCases: readonly RedlockCase[] = [
  {
    name: "the lock is granted exactly when a quorum is free, for every set of nodes that strangers hold, and they keep theirs",
    covers: [
      "redsync: TestMutexQuorum",
      "node-redlock: multi.test.ts, a foreign value on the minority is left alone",
    ],
    needs: ["tamper"],
    async run(lab) {
      const count = lab.nodes.length;
      const locks = await lab.holdfast({ clock: lab.manualClock() });
      for (const taken of subsets(count)) {
        const [name, free] = [lab.name(), others(count, taken)];
        const assertUntouched = await seizeAt(lab, name, taken);
        const lease = await locks.mutex(name, TERMS).tryAcquire();
        assert.equal(lease !== null, free.length >= lab.quorum, `strangers at ${taken}`);
        if (lease) await giveBack(lab, lease);
        await assertClean(lab, name, free);
        await assertUntouched();
      }
    },
  },
  {
    name: "silent nodes cost no time while a quorum answers, and their call's limit when none does, for every set of them",
    covers: [
      "DistributedLock: RedisSynchronizationCoreTestCases, a majority that hangs",
      "node-redlock: multi.test.ts, a majority that fails leaves no key of ours",
    ],
    needs: ["proxy"],
    async run(lab) {
      const { clock, wires, locks } = await field(lab);
      for (const silent of subsets(lab.nodes.length)) {
        const [name, free] = [lab.name(), others(lab.nodes.length, silent)];
        for (const place of silent) wires.at(place).set({ up: "hold" }, "commands");
        const attempt = attemptAt(locks, name);
        if (free.length >= lab.quorum) await giveBack(lab, await soon(attempt));
        else {
          await lab.settledAt(locks, free);
          await assertNoQuorum(lab, attempt, clock, silent);
        }
        // Nodes that hear nothing are not waited for, neither for the lock nor for the end of it.
        await assertClean(lab, name, free);
        wires.heal();
        await lab.recovered(locks);
        await assertClean(lab, name, silent, clock);
      }
    },
  },
  {
    name: "unreachable nodes cost no time while a quorum answers, and make an error that names them when none does, for every set of them",
    covers: [
      "node-redlock: multi.test.ts, a minority that fails",
      "DistributedLock: half of an even set faulting",
      "RedLock.net: TestLockReleasedAfterTimeout",
    ],
    needs: ["proxy"],
    async run(lab) {
      const { clock, wires, locks } = await field(lab);
      for (const away of subsets(lab.nodes.length)) {
        const [name, free] = [lab.name(), others(lab.nodes.length, away)];
        for (const place of away) wires.at(place).refuse();
        const attempt = attemptAt(locks, name);
        if (free.length >= lab.quorum) await giveBack(lab, await soon(attempt));
        else {
          await lab.settledAt(locks, free);
          await assertNoQuorum(lab, attempt, clock, away);
        }
        await assertClean(lab, name, free);
        wires.heal();
        await lab.recovered(locks);
        await assertClean(lab, name, away, clock);
      }
    },
  },
  {
    name: "a verdict comes as soon as no answer can change it, for every mixture of free, foreign and silent nodes",
    covers: [
      "locks.md R12: partial locks",
      "redlock-universal: partial locks cleaned",
      "redsync: TestMutexQuorum",
    ],
    needs: ["proxy", "tamper"],
    waits: true,
    async run(lab) {
      const { clock, wires, locks } = await field(lab);
      for (const words of assignments(lab.nodes.length, ["free", "foreign", "silent"])) {
        const where = (word: string) => places(words.length).filter((place) => words[place] === word);
        const [free, foreign, silent] = [where("free"), where("foreign"), where("silent")];
        const name = lab.name();
        const assertUntouched = await seizeAt(lab, name, foreign);
        for (const place of silent) wires.at(place).set({ up: "hold" }, "commands");
        const attempt = attemptAt(locks, name);
        if (free.length >= lab.quorum) await giveBack(lab, await soon(attempt));
        else if (free.length + silent.length < lab.quorum)
          assert.equal(await soon(attempt), null, `${words}`);
        else {
          await lab.settledAt(locks, [...free, ...foreign]);
          await assertVerdictAtLimit(attempt, clock, { foreign: foreign.length, silent: silent.length, lab });
        }
        wires.heal();
        await lab.recovered(locks);
        await assertClean(lab, name, [...free, ...silent], clock);
        await assertUntouched();
      }
    },
  },
];

/** Those nodes alone are named, each with its own cause, when their call's limit has come and not before. */
async function assertNoQuorum(
  lab: RedlockLab,
  attempt: Promise<unknown>,
  clock: ManualClock,
  silent: readonly number[],
): Promise<void> {
  await lab.nodes[0]?.store.leftMs("any"); // a round trip: the requests of this turn have left
  clock.advance(CALL_MS);
  const error = await soon(rejection(attempt));
  assert.ok(error instanceof NoQuorumError, `NoQuorumError, not ${String(error)}`);
  // The others had not failed yet when it was certain.
  assert.ok(error.nodes.length > lab.nodes.length - lab.quorum, error.message);
  for (const node of error.nodes) {
    assert.ok(silent.includes(node.place - 1), `${error.message} names one that is not among ${silent}`);
    assert.ok(node.error instanceof Error);
    assert.ok(error.message.includes(node.error.message), `${error.message} says ${node.error.message}`);
  }
}

/** Silence at so many nodes makes an error, and a stranger at any makes a busy lock: both at once may be told as either. */
async function assertVerdictAtLimit(
  attempt: Promise<unknown>,
  clock: ManualClock,
  { foreign, silent, lab }: { foreign: number; silent: number; lab: RedlockLab },
): Promise<void> {
  const { error, value } = await outcome(attempt, clock);
  if (error !== undefined) assert.ok(error instanceof NoQuorumError, String(error));
  else assert.equal(value, null, "a lease without a quorum");
  if (foreign === 0) assert.ok(error, "nobody holds it, and it is told to be held");
  if (silent <= lab.nodes.length - lab.quorum) assert.equal(error, undefined, `${error}`);
}
