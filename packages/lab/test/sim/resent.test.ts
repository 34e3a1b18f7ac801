/** A client that sends again what was not answered, and rejects what it is asked to send while it is not connected. */
import { expect, it } from "vitest";
import { failure, Scene } from "../hazards/scene.js";

const TTL_MS = 6_000;
const AWAY_MS = 15_000;

it("holds no lock for nobody after an outage longer than the ttl", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  const link = a.link();
  const client = { unanswered: "resend", offlineQueue: false } as const;
  let code: string | undefined;
  a.run(async () => {
    const holdfast = a.holdfast({ client, callTimeout: 300 });
    await a.sleep(100); // it is connected, and the server knows the scripts after this:
    await (await holdfast.mutex("warm", { ttl: TTL_MS }).acquire()).release();
    link.loseNext("before");
    link.block("toNode");
    ({ code } = await failure(holdfast.mutex("it", { ttl: TTL_MS }).acquire({ wait: 500 })));
  });
  scene.world.at(AWAY_MS, () => link.unblock("toNode"));
  const states: unknown[] = [];
  for (const afterMs of [100, 4_000])
    scene.world.at(AWAY_MS + afterMs, () => states.push(scene.node.peek("GET", "holdfast:{it}:lock")));
  await scene.until(AWAY_MS + 5_000);
  expect(code).toBe("INDETERMINATE");
  // The request that was sent again is granted, and given back: the last token stays, without a holder.
  expect(states).toEqual([expect.stringContaining('"label":"a"'), expect.stringMatching(/^\d{16}[ +]$/)]);
});
