/** With a library that does nothing no experiment says that it holds, and without its fault none says anything. */
import { AcquireTimeoutError, Holdfast, IndeterminateError, type Mutex } from "holdfast";
import { Redlock } from "holdfast/redlock";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Actor } from "../../src/experiments/actor.js";
import { waitersBy } from "../../src/experiments/d10-crowd.js";
import { experiments } from "../../src/experiments/list.js";
import { drawPage } from "../../src/experiments/page.js";
import { reportLines } from "../../src/experiments/report.js";
import { Link } from "../../src/sim/link.js";
import { Node } from "../../src/sim/node.js";

vi.setConfig({ testTimeout: 60_000 });
afterEach(() => vi.restoreAllMocks());

const plain = (text: string): string => text;
const paint = { bold: plain, dim: plain, good: plain, bad: plain };
const played = experiments.map((experiment) => (experiment.id === "D10" ? waitersBy(30) : experiment));

const idle: Readonly<Record<string, (mutex: Mutex) => Promise<never>>> = {
  "always says busy": ({ name }) => Promise.reject(new AcquireTimeoutError(name, 0, null)),
  "never settles": () => new Promise(() => {}),
  "always fails": () => Promise.reject(new IndeterminateError("there is no answer")),
};

describe.each(Object.entries(idle))("an acquire that %s", (_, acquire) => {
  test.each(played)("$id shows nothing, or breaks, and never holds", async (experiment) => {
    const mutexOf = Holdfast.prototype.mutex;
    vi.spyOn(Holdfast.prototype, "mutex").mockImplementation(function (this: Holdfast, ...terms) {
      const mutex = mutexOf.apply(this, terms);
      return Object.assign(mutex, { acquire: () => acquire(mutex), tryAcquire: () => acquire(mutex) });
    });
    const quorumOf = Redlock.prototype.mutex;
    vi.spyOn(Redlock.prototype, "mutex").mockImplementation(function (this: Redlock, ...terms) {
      const mutex = quorumOf.apply(this, terms);
      return Object.assign(mutex, { acquire: () => acquire(mutex), tryAcquire: () => acquire(mutex) });
    });
    const electionOf = Holdfast.prototype.election;
    vi.spyOn(Holdfast.prototype, "election").mockImplementation(function (this: Holdfast, ...terms) {
      return Object.assign(electionOf.apply(this, terms), { campaign: () => acquire(this.mutex("leader")) });
    });
    const rwLockOf = Holdfast.prototype.rwLock;
    vi.spyOn(Holdfast.prototype, "rwLock").mockImplementation(function (this: Holdfast, ...terms) {
      const side = { name: terms[0], acquire: () => acquire(this.mutex(terms[0])) };
      return Object.assign(rwLockOf.apply(this, terms), { read: () => side, write: () => side });
    });
    const lanesOf = Holdfast.prototype.lanes;
    vi.spyOn(Holdfast.prototype, "lanes").mockImplementation(function (this: Holdfast, ...terms) {
      return Object.assign(lanesOf.apply(this, terms), { pushMany: () => acquire(this.mutex("lanes")) });
    });
    const outcome = await experiment.run(2);
    const sound = outcome.trials.filter(({ side }) => side === "holdfast");
    const verdicts = sound.map(({ verdict }) => verdict);
    expect(verdicts).not.toContain("holds");
    expect(verdicts.length).toBeGreaterThan(0);
    expect(outcome.asExpected).toBe(false);
    const report = reportLines(outcome, { columns: 100, paint }).join("\n");
    expect(report).not.toMatch(/NaN|undefined/);
    expect(drawPage(outcome)).not.toMatch(/NaN|undefined/);
  });
});

/** Their faults are a pause, a death, a broken connection, a lost answer, or a server that is replaced. */
const faulty = experiments.filter(({ id }) => /^D([134569]|1[1236])$/.test(id));

test.each(faulty)("$id shows nothing where its fault does not strike", async (experiment) => {
  vi.spyOn(Actor.prototype, "freeze").mockReturnValue();
  vi.spyOn(Actor.prototype, "die").mockReturnValue();
  for (const fault of ["cut", "loseNext"] as const) vi.spyOn(Link.prototype, fault).mockReturnValue();
  for (const fault of ["crash", "restart", "promote"] as const)
    vi.spyOn(Node.prototype, fault).mockReturnValue();
  const { trials, asExpected } = await experiment.run(2);
  // Where work only takes longer than a lease, there is no fault to leave out.
  const withFault = trials.filter(({ name }) => !/a fixed ttl|in the background/.test(name));
  for (const { side, verdict, unmet } of withFault) {
    expect(verdict).not.toBe(side === "naive" ? "fails" : "holds");
    expect(unmet).not.toEqual([]);
  }
  expect(asExpected).toBe(false);
});
