/** While Redis is away: nothing of TrafficJam waits in the client's own queue until Redis is back. */
import { freePort } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { closeHoldfasts, GcraLimit, Limit, LimitGroup } from "../../src/traffic-jam/index.ts";
import { configOver } from "./scene.ts";

test("limits and groups of a burst are refused at once", async () => {
  const server = await EmbeddedValkey.start({ port: await freePort() });
  const client = new Redis(server.url, { retryStrategy: () => 20 });
  client.on("error", () => {});
  const config = configOver(client, "tj");
  const limit = (value: string) => new Limit("a", value, { max: 3, period: 60, config });
  await limit("first").increment();
  const gone = new Promise((resolve) => client.once("close", resolve));
  await server.stop();
  await gone;
  const asked = await Promise.allSettled(
    Array.from({ length: 50 }, (_, at) => `s${at}`).flatMap((value) => [
      limit(value).increment(),
      new LimitGroup(limit(value), new GcraLimit("b", value, { max: 3, period: 60, config })).increment(),
    ]),
  );
  const codes = asked.map((each) => (each.status === "rejected" ? each.reason.code : "fulfilled"));
  expect(new Set(codes)).toEqual(new Set(["UNAVAILABLE"]));
  expect((client as unknown as { offlineQueue: unknown[] }).offlineQueue).toHaveLength(0);
  await closeHoldfasts(client);
  client.disconnect();
});
