import { once } from "node:events";
import { launchModule, within } from "@holdfast/conformance";
import { expect, test } from "vitest";
import { Backend } from "../src/master-lock/index.ts";
import { Mutex } from "../src/redis-semaphore/index.ts";
import { Redlock } from "../src/redlock/index.ts";
import { onEachServer } from "./place.ts";

const TTL_MS = 1_000;
const holder = new URL("./holder.mjs", import.meta.url);
const leaver = new URL("./leaver.mjs", import.meta.url);

onEachServer((place) => {
  test("a process that is killed holds its locks for one ttl more, and not longer", async () => {
    const client = place().client();
    const key = place().name();
    const url = `redis://${client.options.host}:${client.options.port}`;
    const child = launchModule(holder, [url, key, String(TTL_MS)], { execArgv: [] });
    await within(once(child, "message"), "the child holds its locks");
    const backend = new Backend();
    backend.configure((config) => {
      config.redis = client;
      config.logger = { debug() {}, info() {}, warn() {} };
    });
    backend.start();
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    const free = Promise.all([
      backend.synchronize(key, { acquireTimeout: 30 }, (lease) => lease.check()),
      new Redlock([client], { retryCount: -1 }).acquire([key], TTL_MS),
      new Mutex(client, key, { acquireTimeout: 30_000 }).acquire(),
    ]);
    await within(free, "the locks of the dead");
  });

  test.each([
    ["that waited for a lock", "waited"],
    ["that holds a lock", "held"],
    ["that calls quit of redlock 4", "quit"],
    ["that is done with its lock", "released"],
  ])("a process %s ends when its client does", async (_, kind) => {
    const client = place().client();
    const url = `redis://${client.options.host}:${client.options.port}`;
    const child = launchModule(leaver, [url, place().name(), kind], { execArgv: [] });
    const [code] = await within(once(child, "exit"), "it ends, long before its lock would");
    expect(code).toBe(0);
  });
});
