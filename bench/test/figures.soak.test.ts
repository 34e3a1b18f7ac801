/** Every question has figures that can be so: short runs of the real program on a real redis-server. */
import { needing } from "@holdfast/conformance";
import { describe, expect, test, vi } from "vitest";
import { found, result } from "./program.ts";

// Whole processes: a few seconds each, several times that on a machine with its hands full.
vi.setConfig({ testTimeout: 120_000 });

needing(describe, "redis-server")("measures on a real redis-server", () => {
  test("a counter without a lock loses updates between processes, and none under holdfast", async () => {
    const run = await result("l3", "--only", "holdfast,no-lock");
    // A busy machine may run the processes of one slice one after the other: then it is measured again.
    let { lostUpdates } = found(run, "l3", "no-lock");
    while (lostUpdates === 0)
      ({ lostUpdates } = found(await result("l3", "--only", "no-lock"), "l3", "no-lock"));
    expect(lostUpdates).toBeGreaterThan(0);
    const own = found(run, "l3", "holdfast");
    expect(own.lostUpdates).toBe(0);
    expect(own.cyclesPerSecond).toBeGreaterThan(0);
    expect(run.questions[0]?.targets.find(({ text }) => text === "L3: no lost update")?.reached).toBe(true);
  });

  test("callers without a lock are too many at a time, and those with permits never are", async () => {
    const run = await result(
      "s1",
      "s2",
      "--only",
      "holdfast-semaphore,holdfast-rw,redis-semaphore-limit,no-lock",
    );
    for (const question of run.questions)
      for (const { id, contestants } of question.cases)
        for (const { name, figures: own, failed } of contestants) {
          const which = `${question.id} ${id} ${name}`;
          expect(failed, which).toBeNull();
          if (name !== "no-lock") expect(own, which).toMatchObject({ tooMany: 0 });
          // An empty section of one process is over before the next begins.
          else if (id === "1-1") expect(own.tooMany, which).toBeGreaterThan(0);
        }
  });

  test("over independent servers a cycle by hand is two requests at each, and holdfast loses no update", async () => {
    const run = await result("l6", "l6c", "--only", "holdfast,redlock-floor");
    expect(found(run, "l6", "redlock-floor")).toMatchObject({ requestsPerCycle: 6, requestsPerNodeCycle: 2 });
    expect(found(run, "l6", "holdfast").cyclesPerSecond).toBeGreaterThan(0);
    // In a slice of a slow machine not everybody has a turn.
    expect(found(run, "l6c", "holdfast")).toMatchObject({ lostUpdates: 0 });
  });

  test("a refused check is answered in memory, and no more than ten are admitted; an admitted one is one request", async () => {
    const run = await result("r1", "r2", "--only", "gcra,holdfast");
    expect(found(run, "r1", "holdfast").requestsPerCheck).toBe(1);
    expect(found(run, "r1", "gcra")).toMatchObject({ requestsPerCheck: 1, refused: 0 });
    for (const name of ["holdfast", "gcra"])
      expect(found(run, "r2", name).admitted, name).toBeLessThanOrEqual(10); // fewer in a slice of a slow machine
    // Each admission is a request, and so is the first refusal; the others are answered in memory.
    const { requestsPerCheck = Number.NaN, admitted = 0, refused = 0 } = found(run, "r2", "holdfast");
    expect(Math.round(requestsPerCheck * (admitted + refused))).toBeLessThanOrEqual(admitted + 1);
  });

  test("signals and events are all heard", async () => {
    const run = await result("signals");
    for (const name of ["holdfast-signal", "holdfast-signal-one", "holdfast-event"])
      expect(found(run, "signals", name), name).toMatchObject({ missed: 0 });
    // Between two waits by hand a word is lost.
    expect(found(run, "signals", "pubsub").p50Ms).toBeGreaterThan(0);
  });

  test("queues and lanes lose no message, and take at most two requests for each", async () => {
    const run = await result("q1", "q2", "q3", "--only", "holdfast,holdfast-lanes,list");
    for (const question of run.questions)
      for (const each of question.cases)
        for (const { name, figures: own, failed } of each.contestants) {
          expect(failed, `${question.id} ${each.id} ${name}`).toBeNull();
          // A busy machine may stop a consumer for longer than a lease: then a message is delivered again.
          expect(own, `${question.id} ${each.id} ${name}`).toMatchObject({ lostMessages: 0 });
        }
    expect(found(run, "q1", "list").requestsPerPush).toBe(1);
    expect(found(run, "q1", "holdfast").requestsPerMessage).toBeLessThanOrEqual(2);
    expect(found(run, "q3", "holdfast-lanes").requestsPerMessage).toBeLessThanOrEqual(2);
  });

  test("no way to update a record loses one", async () => {
    const run = await result("records", "--only", "holdfast-update,watch-multi,compare-and-set");
    for (const name of ["holdfast-update", "watch-multi", "compare-and-set"])
      expect(found(run, "records", name), name).toMatchObject({ lostUpdates: 0 });
  });

  test("an election has a new leader, and what was done once is done", async () => {
    const run = await result("election", "once", "--only", "holdfast-election,holdfast-once-done");
    expect(found(run, "election", "holdfast-election").p50Ms).toBeGreaterThan(0);
    expect(found(run, "once", "holdfast-once-done").cyclesPerSecond).toBeGreaterThan(0);
  });

  test("of eight processes each has its turns, and a lock that lingers goes to another process less often", async () => {
    const run = await result("l3p", "--only", "holdfast,holdfast-linger");
    const [own, lingering] = [found(run, "l3p", "holdfast"), found(run, "l3p", "holdfast-linger")];
    for (const { lostUpdates, handOversPerSecond = 0 } of [own, lingering]) {
      expect(lostUpdates).toBe(0);
      expect(handOversPerSecond).toBeGreaterThan(0);
    }
    expect(lingering.handOversPerSecond).toBeLessThan(lingering.cyclesPerSecond ?? 0);
  });

  test("a hot lock, a hand-off and a first lease have figures", async () => {
    const run = await result("l2", "l4", "first-lease", "--only", "holdfast");
    expect(found(run, "l2", "holdfast")).toMatchObject({ lostUpdates: 0, gaveUp: 0 });
    expect(found(run, "l4", "holdfast").p50Ms).toBeGreaterThan(0);
    expect(found(run, "first-lease", "holdfast")).toMatchObject({ timers: 0, sockets: 0 });
    expect(found(run, "first-lease", "holdfast").firstLeaseMs).toBeGreaterThan(0);
  });
});
