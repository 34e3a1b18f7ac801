/** One client may serve many Holdfasts: it has one listener for all, and none when they are closed. */
import { UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SharedListener } from "../src/redis/clients/shared-listener.js";

let server: EmbeddedValkey;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
});

afterAll(() => server.stop());

test("Node sees no leak, however many Holdfasts live on one client", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  const ioredis = new Redis(server.url);
  await ioredis.ping(); // while it connects it listens to itself
  const nodeRedis = await createClient({ url: server.url })
    .on("error", () => {})
    .connect();
  for (const [client, event] of [
    [ioredis, "close"],
    [ioredis, "end"],
    [nodeRedis, "reconnecting"],
    [nodeRedis, "end"],
  ] as const) {
    const before = client.listenerCount(event);
    const holdfasts = Array.from({ length: 20 }, () => new Holdfast(client, UNHURRIED));
    await Promise.all(holdfasts.map((hf, n) => hf.mutex(`n${n}`).run(() => {})));
    expect(client.listenerCount(event)).toBe(before + 1);
    await Promise.all(holdfasts.map((hf) => hf.close()));
    expect(client.listenerCount(event)).toBe(before);
  }
  await new Promise((resolve) => process.nextTick(resolve)); // warnings come a tick later
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
  ioredis.disconnect();
  nodeRedis.destroy();
});

test("everyone who listens hears of a break, until it stops; the last one ends the listening", () => {
  let tell: (() => void) | null = null;
  const disruptions = new SharedListener((each) => {
    tell = each;
    return () => {
      tell = null;
    };
  });
  const heard: string[] = [];
  const stops = ["a", "b"].map((name) => disruptions.add(() => heard.push(name)));
  (tell as (() => void) | null)?.();
  stops[0]?.();
  stops[0]?.();
  (tell as (() => void) | null)?.();
  expect(heard).toEqual(["a", "b", "b"]);
  stops[1]?.();
  expect(tell).toBeNull();
  disruptions.add(() => heard.push("c"));
  (tell as (() => void) | null)?.();
  expect(heard.at(-1)).toBe("c");
});
