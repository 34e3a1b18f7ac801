/** D, as far as leaders go: who acts when a leader overruns its term. */
import { StaleTokenError } from "holdfast";
import { expect } from "vitest";
import { hazardTest as test } from "./hazard-tests.js";
import { type Program, Scene } from "./scene.js";

const TERM_MS = 1_000;

/** The recipe: terms are counted by time, and whoever increments the counter of a term first leads. */
async function leadByIncr(program: Program): Promise<number> {
  const client = program.client();
  for (;;) {
    const term = Math.floor(program.nowMs / TERM_MS);
    if ((await client.call("INCR", `leader:${term}`)) === 1) return term;
    await program.sleep((term + 1) * TERM_MS + 10 - program.nowMs);
  }
}

test("terms counted by INCR: a leader that stood still acts beside the next one [breaks H70]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  a.run(async () => {
    const term = await leadByIncr(a);
    const isLeading = (): boolean => a.nowMs < (term + 1) * TERM_MS;
    if (isLeading()) a.process.stall(1_500);
    await a.client().call("RPUSH", "acts", `a in term ${term}`);
  });
  b.run(async () => {
    await b.sleep(100);
    const term = await leadByIncr(b);
    await b.client().call("RPUSH", "acts", `b in term ${term}`);
  });
  await scene.until(3_000);
  expect(scene.node.peek("LRANGE", "acts", "0", "-1")).toEqual(["b in term 1", "a in term 0"]);
});

test("a leader that stood still beyond its term does not lead, and what it sends is refused [H70]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  const seen: unknown[] = [];
  a.run(async () => {
    const hf = a.holdfast();
    const leadership = await hf.election("boss", { term: TERM_MS }).campaign();
    leadership.check();
    a.process.stall(1_500);
    const error = await hf
      .record("state")
      .put("a", { fence: leadership })
      .catch((reason: unknown) => reason);
    seen.push(error instanceof StaleTokenError, leadership.valid, leadership.signal.aborted);
  });
  b.run(async () => {
    await b.sleep(100);
    const hf = b.holdfast();
    const leadership = await hf.election("boss", { term: TERM_MS }).campaign();
    await hf.record("state").put("b", { fence: leadership });
    await b.sleep(1_000);
    seen.push(leadership.valid);
  });
  await scene.until(4_000);
  expect(seen).toEqual([true, false, true, true]);
  expect(scene.node.peek("HGET", "holdfast:{state}:record:state", "value")).toBe('j"b"');
});
