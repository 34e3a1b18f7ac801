/** The client of the canaries: the judge must know their errors, whose stacks name no caller. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { expect, test } from "vitest";
import { openCanaryClient } from "../../src/chaos/worker/clients.js";

test("an error of the server says that a canary was given it", async () => {
  const server = await EmbeddedValkey.start();
  const { hostname, port } = new URL(server.url);
  const client = openCanaryClient(hostname, Number(port));
  try {
    await client.set("text", "no number");
    const error = await client.eval("return redis.call('INCR', KEYS[1])", 1, "text").catch((told) => told);
    expect((error as Error).stack).toMatch(/not an integer.*\n {4}at a canary$/s);
    await expect(client.incr("number")).resolves.toBe(1);
  } finally {
    client.disconnect();
    await server.stop();
  }
});
