/** Known plans of waits that come and go, over every client. The soak draws others. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, test } from "vitest";
import { LIBRARIES } from "./client-libraries.js";
import { runPlan } from "./subscription-plan.js";

const drawn = process.env.HOLDFAST_WORLD_SEED;
const seeds = Array.from({ length: drawn ? 20 : 3 }, (_, place) => Number(drawn ?? 1) + place);

let server: EmbeddedValkey;
let publisher: Redis;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  publisher = new Redis(server.url);
  await publisher.call("CONFIG", "SET", "requirepass", "none");
});
afterAll(async () => {
  publisher.disconnect();
  await server.stop();
});

describe.each(LIBRARIES)("%s", (_, make) => {
  test.each(seeds)("plan %i", (seed) => runPlan(make, server, publisher, seed), 60_000);
});
