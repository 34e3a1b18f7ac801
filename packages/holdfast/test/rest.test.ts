/** A Holdfast at rest costs nothing: nouns that are made and not used, and nouns whose use is over. */
import { UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { type Clock, Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../src/time/clock.js";

let server: EmbeddedValkey;
let admin: Redis;
let client: Redis;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  [admin, client] = [new Redis(server.url), new Redis(server.url)];
  await Promise.all([admin.ping(), client.ping()]);
});

afterAll(async () => {
  admin.disconnect();
  client.disconnect();
  await server.stop();
});

/** The system's clock, which knows its timers. */
function countedClock(): { readonly clock: Clock; readonly timers: Set<unknown> } {
  const timers = new Set<unknown>();
  const clock: Clock = {
    now: () => systemClock.now(),
    setTimer(callback, delayMs) {
      const timer = {};
      timers.add(timer);
      const cancel = systemClock.setTimer(() => {
        timers.delete(timer);
        callback();
      }, delayMs);
      return () => {
        timers.delete(timer);
        cancel();
      };
    },
  };
  return { clock, timers };
}

/** Commands that the server was asked for so far, by anybody, and its connections. */
async function served(): Promise<{ readonly commands: number; readonly connections: number }> {
  const text = await admin.info("stats", "clients");
  const figure = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(text)?.[1]);
  return { commands: figure("total_commands_processed"), connections: figure("connected_clients") };
}

function holdfast() {
  const { clock, timers } = countedClock();
  const hf = new Holdfast(client, { ...UNHURRIED, clock });
  onTestFinished(() => hf.close());
  return { hf, timers };
}

function everyNoun(hf: Holdfast) {
  return {
    mutex: hf.mutex("rest"),
    semaphore: hf.semaphore("rest", { permits: 2 }),
    rwLock: hf.rwLock("rest"),
    limit: hf.limit("rest", { max: 5, per: "1m" }),
    guard: hf.guard("rest", { hits: 5, per: "1m", penalties: [{ kind: "busy", for: "1m" }] }),
    record: hf.record<number>("rest"),
    signal: hf.signal<number>("rest"),
    matching: hf.signals.matching("rest:*"),
    event: hf.event("rest"),
    latch: hf.latch("rest", 1),
    barrier: hf.barrier("rest", 2),
    election: hf.election("rest"),
  };
}

/** On a busy machine Redis may not have answered by then, and the wait rejects. */
async function briefly(noun: { wait(options: { readonly wait: number }): Promise<unknown> }): Promise<void> {
  expect(await noun.wait({ wait: 30 }).catch(() => null)).toBeFalsy();
}

/** Whether it says nothing for a while, and has nothing to say later. */
async function isQuiet(timers: ReadonlySet<unknown>): Promise<boolean> {
  const before = await served();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const after = await served();
  return after.commands - before.commands === 1 && timers.size === 0;
}

test("what is made and not used sends nothing, opens nothing, and sets no timer", async () => {
  const before = await served();
  const { hf, timers } = holdfast();
  everyNoun(hf);
  expect(await isQuiet(timers)).toBe(true);
  const after = await served();
  expect(after.connections).toBe(before.connections);
  expect(after.commands - before.commands).toBe(3); // those that ask for the figures
});

test("when nothing waits or holds any more, no timer is left, and one connection for messages at most", async () => {
  const before = await served();
  const { hf, timers } = holdfast();
  const {
    mutex,
    limit,
    guard,
    record,
    signal,
    event,
    latch,
    barrier,
    election,
    matching,
    semaphore,
    rwLock,
  } = everyNoun(hf);
  await (await mutex.acquire()).release();
  await semaphore.run(() => semaphore.run(() => semaphore.tryAcquire()));
  await Promise.all([rwLock.read().run(() => {}), rwLock.write().run(() => {})]);
  await limit.take("who");
  await guard.hit("who");
  await record.put(1);
  await record.update((value) => (value ?? 0) + 1);
  for await (const change of record.watch()) {
    expect(change?.value).toBe(2);
    break;
  }
  await hf.records.putMany([{ name: "rest:many", value: 1 }]);
  await briefly(signal);
  const listener = await signal.listen();
  await signal.emit(1);
  for await (const { data } of listener) {
    expect(data).toBe(1);
    break;
  }
  await signal.poll();
  signal.stopPolling();
  for (const noun of [matching, event, latch, barrier]) await briefly(noun);
  await latch.countDown();
  await latch.wait();
  await (await election.campaign()).resign();
  for await (const leader of election.observe()) {
    expect(leader).toBeNull();
    break;
  }
  await hf.once("rest", () => 1, { keep: "1m" });
  await hf.once("rest", () => 1, { keep: "1m" });
  await until("it is quiet", () => isQuiet(timers)); // what it has said last may still be on its way
  const after = await served();
  expect(after.connections - before.connections).toBeLessThanOrEqual(1);
});
