/** hf.script(): a script of the caller over the client of a Holdfast. */

import { createHash } from "node:crypto";
import { UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { expect, test } from "vitest";

const source = "return { ARGV[1], redis.call('INCRBY', KEYS[1], ARGV[1]) }";
const script = { name: "own", source, sha1: createHash("sha1").update(source).digest("hex") };

test("it runs by its hash, in one request with others, also when the server forgot it", async () => {
  await using server = await EmbeddedValkey.start();
  const client = new Redis(server.url);
  const hf = new Holdfast(client, UNHURRIED);
  const both = await Promise.all([hf.script(script, ["a"], ["2"]), hf.script(script, ["a"], ["3"])]);
  expect(both).toEqual([
    ["2", 2],
    ["3", 5],
  ]);
  await client.script("FLUSH");
  expect(await hf.script(script, ["a"], ["1"])).toEqual(["1", 6]);
  await expect(hf.script(script, ["a"], ["x"])).rejects.toMatchObject({ code: "SERVER_ERROR" });
  await hf.close();
  await expect(hf.script(script, ["a"], ["1"])).rejects.toMatchObject({ code: "CLOSED" });
  client.disconnect();
});

test("while Redis is away it is refused at once, and nothing is sent", async () => {
  const server = await EmbeddedValkey.start();
  const client = new Redis(server.url, { retryStrategy: () => 20 });
  client.on("error", () => {});
  const hf = new Holdfast(client, UNHURRIED);
  await hf.script(script, ["a"], ["1"]);
  const gone = new Promise((resolve) => client.once("close", resolve));
  await server.stop();
  await gone;
  await expect(hf.script(script, ["a"], ["1"])).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await hf.close();
  client.disconnect();
});
