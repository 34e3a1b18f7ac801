/** A state with a short `keep` lasts for as long as a process waits for it. */
import { expect, it } from "vitest";
import { Scene } from "../hazards/scene.js";

it("a latch lives on while somebody waits for it", async () => {
  const scene = await Scene.open();
  const [waiter, party] = [scene.program("waiter"), scene.program("party")];
  let passed: object | null = null;
  waiter.run(async () => {
    const latch = waiter.holdfast().latch("start", 2, { keep: "1s" });
    await latch.countDown();
    passed = await latch.wait({ wait: "1m" });
  });
  party.run(async () => {
    await party.sleep(30_000);
    await party.holdfast().latch("start", 2, { keep: "1s" }).countDown();
  });
  await scene.until(40_000);
  expect(passed).not.toBeNull();
});
