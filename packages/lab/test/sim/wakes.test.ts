/** A waiter that is woken more often than it remembers what it has sent. */
import { framed } from "@holdfast/conformance";
import { expect, it } from "vitest";
import { Scene } from "../hazards/scene.js";

const WAKES = 40;

it("asks no more than once for each wake, and has the lock by the first answer", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  let hadMs = 0;
  a.run(async () => {
    const lease = await a.holdfast().mutex("it", { ttl: 6_000, localTurns: 1 }).acquire();
    await a.sleep(3_000);
    await lease.release();
  });
  b.run(async () => {
    await b.sleep(500);
    const lease = await b.holdfast().mutex("it", { ttl: 500 }).acquire({ wait: 20_000 });
    hadMs = b.nowMs;
    await lease.release();
  });
  let asked = 0;
  scene.world.at(2_000, () => {
    const [id = ""] = scene.node.peek("ZRANGE", "holdfast:{it}:line", "0", "0") as string[];
    const inboxes = scene.node.peek("PUBSUB", "CHANNELS", "holdfast:inbox:*") as string[];
    scene.node.peek("DEL", "holdfast:{it}:lock");
    asked = scene.scriptsRun;
    for (let wake = 0; wake < WAKES; wake += 1)
      for (const inbox of inboxes) scene.node.peek("PUBLISH", inbox, framed("", `wake ${id}`));
  });
  await scene.until(10_000);
  expect(hadMs).toBeGreaterThan(0);
  expect(hadMs).toBeLessThan(2_010);
  expect(scene.scriptsRun - asked).toBeLessThan(WAKES + 30);
});
