/** What ends a wait, with a port that the test plays. */
import { ManualClock } from "@holdfast/conformance";
import { expect, test } from "vitest";
import { ServerError } from "../src/errors.js";
import type { Claim } from "../src/locks/backend.js";
import type { LockScripts } from "../src/locks/backends/redis/lock-scripts.js";
import type { Verdict } from "../src/locks/backends/redis/verdicts.js";
import { type Waiting, Waits } from "../src/locks/backends/redis/waits.js";
import { Inbox } from "../src/redis/inbox.js";
import type { MessageListener, RedisPort } from "../src/redis/port.js";
import { Subscriber } from "../src/redis/subscriber.js";
import { Schedule } from "../src/time/schedule.js";

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits whose requests the test answers, and the connections for their messages. */
function open(acquire: () => Promise<Verdict>, command: RedisPort["command"] | null) {
  const clock = new ManualClock();
  const schedule = new Schedule(clock);
  const opened: MessageListener[] = [];
  const port: Pick<RedisPort, "openMessages" | "trouble"> = {
    trouble: null,
    openMessages(listener) {
      opened.push(listener);
      const none = async (): Promise<void> => {};
      return { subscribe: none, unsubscribe: none, answers: async () => true, close() {} };
    },
  };
  const random = { fraction: () => 0.5, id: () => "id" };
  const inbox = new Inbox({
    subscriber: new Subscriber(port, clock, 1_000),
    port: { zeroListenersMeansGone: command !== null, command: command ?? (async () => null) },
    schedule,
    callTimeoutMs: 1_000,
    channel: "channel",
  });
  /** The ids of each call for signs of life, which has no answer. */
  const beats: string[][] = [];
  const scripts: Partial<LockScripts> = {
    callTimeoutMs: 1_000,
    acquire: (_sent, _settings, { answered, failed }) => void acquire().then(answered, failed),
    groupBySlot: (items) => [items],
    heartbeat(waiters) {
      beats.push(waiters.map(([{ id }]) => id));
      return new Promise(() => {});
    },
  };
  const waits = new Waits(schedule, random, inbox, scripts as LockScripts);
  const refused: string[] = [];
  const wait = async (id: string): Promise<Waiting> => {
    const claim: Claim = {
      name: "n",
      id,
      mode: "exclusive",
      weight: 1,
      ttlMs: 9_000,
      storeTtlMs: 9_000,
      turns: 1,
      minFence: 0n,
    };
    const waiting: Waiting = {
      claim,
      sent: { claim, key: "holdfast:{n}:lock", disruptions: 0, unanswered: 0, writes: 0 },
      granted() {},
      waiting() {},
      troubled() {},
      refused: () => void refused.push(id),
    };
    waits.add(waiting, "0");
    await settled();
    return waiting;
  };
  return { clock, opened, beats, inbox, waits, refused, wait };
}

const held = { owner: null, holder: null, leftMs: 5_000 };

test.each([
  { ahead: 0, leftMs: 1_000, asksAtMs: 1_004.5 },
  { ahead: 3, leftMs: 1_000, asksAtMs: 1_019.5 },
  { ahead: 3, leftMs: 5_000, asksAtMs: 2_700 },
])(
  "with $ahead ahead and a lease of $leftMs ms it asks after $asksAtMs ms",
  async ({ ahead, leftMs, asksAtMs }) => {
    const verdict: Verdict = { kind: "in-line", ...held, leftMs, ahead, ticket: "1" };
    const { clock, beats, waits, wait } = open(async () => verdict, null);
    await wait("w");
    clock.advance(asksAtMs - 1);
    expect(beats).toEqual([]);
    clock.advance(1);
    expect(beats).toEqual([["w"]]);
    waits.close();
  },
);

test("a refusal to listen ends the waits that began before it was asked for, and no later ones", async () => {
  const { clock, opened, waits, refused, wait } = open(async () => ({ kind: "busy", ...held }), null);
  await wait("first");
  clock.advance(100);
  await wait("second");
  const noPermission = new ServerError("NOPERM this user has no permissions");
  opened[0]?.disconnected(noPermission);
  expect([refused, opened.length]).toEqual([["first"], 1]);
  clock.advance(1_000);
  await settled();
  expect(opened).toHaveLength(2); // the second one asks for itself
  opened[1]?.disconnected(noPermission);
  expect(refused).toEqual(["first", "second"]);
  waits.close();
});

test("who comes to stand in line at once has it asked where the messages come from", async () => {
  const asked: string[] = [];
  const { clock, opened, inbox, waits, wait } = open(
    async () => ({ kind: "in-line", ...held, ahead: 0, ticket: "1" }),
    async (words) => {
      asked.push(words.join(" "));
      return ["channel", 1];
    },
  );
  inbox.open();
  opened[0]?.connected();
  await settled();
  for (let turn = 0; turn < 100; turn += 1) {
    const waiting = await wait(String(turn));
    clock.advance(50);
    waits.remove(waiting);
  }
  await settled();
  expect(asked).toEqual(["PUBSUB NUMSUB channel", "PUBSUB NUMSUB channel"]);
  expect(clock.pendingTimers).toBe(0);
});
