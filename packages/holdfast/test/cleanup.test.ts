/** What is left behind, and for how long it is cleaned up. */
import { ManualClock } from "@holdfast/conformance";
import { expect, test } from "vitest";
import type { Claim } from "../src/locks/backend.js";
import { Cleanup } from "../src/locks/backends/redis/cleanup.js";
import type { LockScripts, ReleaseOutcome, SentClaim } from "../src/locks/backends/redis/lock-scripts.js";
import type { AnswerListener } from "../src/redis/reply.js";
import { Schedule } from "../src/time/schedule.js";

const random = { fraction: () => 0.5, id: () => "id" };
const claim: Claim = {
  name: "n",
  id: "i",
  mode: "exclusive",
  weight: 1,
  ttlMs: 9_000,
  storeTtlMs: 9_000,
  turns: 1,
  minFence: 0n,
};
const sent = (id = "i"): SentClaim => ({
  claim: { ...claim, id },
  key: "holdfast:{n}:lock",
  disruptions: 0,
  unanswered: 1,
  writes: 0,
});

function cleanupBy(
  clock: ManualClock,
  send: (claim: Claim) => Promise<void>,
  mayBeResent: (claim: Claim) => boolean = () => false,
): Cleanup {
  const scripts = {
    callTimeoutMs: 1_000,
    release: (each: SentClaim, _: number, { answered, failed }: AnswerListener<ReleaseOutcome>) =>
      void send(each.claim).then(() => answered("released"), failed),
    mayBeResent: (each: SentClaim) => mayBeResent(each.claim),
  } as Partial<Record<keyof LockScripts, unknown>> as LockScripts;
  return new Cleanup(new Schedule(clock), random, scripts);
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a wall clock that is set forward ends no clean-up: the server has forgotten nothing", async () => {
  const clock = new ManualClock();
  let tries = 0;
  const send = async (): Promise<void> => {
    tries += 1;
    if (tries < 3) throw new Error("no memory");
  };
  const cleanup = cleanupBy(clock, send);
  cleanup.add(sent());
  await settled();
  clock.stepWall(10_000);
  for (let i = 0; i < 3; i++) {
    clock.advance(500);
    await settled();
  }
  expect(tries).toBe(3);
});

test("what the server grants while a try is under way is given back by one more", async () => {
  const answers: (() => void)[] = [];
  const send = (): Promise<void> => new Promise((resolve) => answers.push(resolve));
  const cleanup = cleanupBy(new ManualClock(), send);
  cleanup.add(sent());
  expect([cleanup.hurry("i"), cleanup.hurry("another"), answers.length]).toEqual([true, false, 1]);
  answers[0]?.();
  await settled();
  expect(answers).toHaveLength(2);
  answers[1]?.();
  await settled();
  expect([answers.length, cleanup.hurry("i")]).toEqual([2, false]);
});

test("a client that is not connected may send a request again: its clean-up lasts until the client is back", async () => {
  const clock = new ManualClock();
  let connected = false;
  let tries = 0;
  const send = async (): Promise<void> => {
    tries += 1;
    if (!connected) throw new Error("not connected");
  };
  const mayBeResent = ({ id }: { id: string }): boolean => !connected && id === "sent";
  const cleanup = cleanupBy(clock, send, mayBeResent);
  const pass = async (): Promise<void> => {
    for (let second = 0; second < 30; second++) {
      clock.advance(1_000);
      await settled();
    }
  };
  cleanup.add(sent("sent"));
  cleanup.add(sent("never sent"));
  await pass();
  await pass();
  tries = 0;
  connected = true;
  await pass();
  expect([tries, clock.pendingTimers]).toEqual([1, 0]);
});

test("an outage fills the memory with no more than a thousand requests that outlive their ttl", async () => {
  const clock = new ManualClock();
  let connected = false;
  const given: string[] = [];
  const send = async ({ id }: { id: string }): Promise<void> => {
    if (!connected) throw new Error("not connected");
    given.push(id);
  };
  const cleanup = cleanupBy(clock, send, () => !connected);
  for (let number = 0; number < 1_500; number++) cleanup.add(sent(`${number}`));
  for (let second = 0; second < 20; second++) {
    await settled();
    clock.advance(1_000);
  }
  connected = true;
  clock.advance(3_000);
  await settled();
  expect([new Set(given).size, given.length, clock.pendingTimers]).toEqual([1_000, 1_000, 0]);
});
