/** A hundred thousand messages of strangers, to a process that has every noun open. */
import { RedisLab, runCase, strangersCase } from "@holdfast/conformance";
import { test } from "vitest";
import { ioredis } from "./clients.ts";
import { startEmbedded } from "./servers.ts";

test("none of them ends a wait or the process, or is believed", async () => {
  const server = await startEmbedded();
  try {
    await runCase(strangersCase(100_000), new RedisLab(server, ioredis()));
  } finally {
    await server.stop();
  }
});
