/** The scripts of a queue on the engine itself: one queue for each test, and processes that are an inbox and a set of scripts. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { Operations } from "../../src/deliveries/operations.js";
import { QueueScripts } from "../../src/queues/queue-scripts.js";
import { checkQueue, type QueueOptions } from "../../src/queues/settings.js";
import { deliveryKey, inboxChannel, QUEUE_KEYS } from "../../src/redis/keys.js";
import { readMessage } from "../../src/redis/message.js";
import type { RedisPort, Reply } from "../../src/redis/port.js";
import type { Script } from "../../src/redis/script.js";

let server: EmbeddedValkey;
export let redis: Redis;
let listeners: Redis[] = [];
let count = 0;
/** The name of the queue of this test. */
export let name: string;

/** Called by each file of tests: what a module does when it is loaded is done for the first file of a process only. */
export function onEngine(): void {
  beforeAll(async () => {
    server = await EmbeddedValkey.start();
    redis = new Redis(server.url);
  });

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  beforeEach(() => {
    // A name with what a gift and a key could trip over.
    name = `queue ${count++}:%/é`;
  });

  afterEach(() => {
    for (const listener of listeners) listener.disconnect();
    listeners = [];
  });
}

/** The nine keys of this test's queue. */
export function keys(): string[] {
  return QUEUE_KEYS.map((key) => deliveryKey("t", "queue", name, key));
}

const port = (zeroListenersMeansGone: boolean): RedisPort =>
  ({
    zeroListenersMeansGone,
    script: (script: Script, scriptKeys: readonly string[], args: readonly string[]) =>
      redis.eval(script.source, scriptKeys.length, ...scriptKeys, ...args) as Promise<Reply>,
    command: ([command = "", ...words]: readonly string[]) => redis.call(command, ...words) as Promise<Reply>,
  }) as unknown as RedisPort;

/** A process of this test's queue. */
export interface Process {
  readonly id: string;
  readonly scripts: QueueScripts;
  readonly operations: Operations;
  /** The messages of its inbox. */
  readonly messages: string[];
  /** Takes with a number of its own. */
  take(want: number, ...acks: readonly (string | readonly [string, string])[]): Promise<Gotten>;
  push(...bodies: readonly string[]): Promise<string[]>;
  /** Puts one delivery back. Returns whether it was still its own. */
  back(
    handle: string,
    settings?: { delayMs?: number; isAttempt?: boolean; reason?: string },
  ): Promise<boolean>;
  /** Its inbox is heard no more. */
  deafen(): Promise<void>;
}

export interface Gotten {
  readonly handles: string[];
  readonly bodies: string[];
  readonly late: readonly string[];
  readonly dueInMs: number | null;
}

let seq = 0;

export function nextSeq(): number {
  seq += 1;
  return seq;
}

/** @param isSure a PUBLISH to nobody means that the process is gone, as on a single server */
export async function open(
  options: QueueOptions = {},
  { listens = true, isSure = true } = {},
): Promise<Process> {
  count += 1;
  const id = `p${count}`;
  const messages: string[] = [];
  const channel = inboxChannel("t", id);
  let listener: Redis | null = null;
  if (listens) {
    listener = redis.duplicate();
    listeners.push(listener);
    listener.on("message", (_, message: string) => messages.push(readMessage(message)?.text ?? message));
    await listener.subscribe(channel);
  }
  const inbox = { channel, up: listens };
  const context = {
    port: port(isSure),
    prefix: "t",
    callTimeoutMs: 1_000,
    random: { id: () => `memory-${id}`, fraction: () => 0 },
    inbox,
  } as unknown as ConstructorParameters<typeof QueueScripts>[0];
  const scripts = new QueueScripts(context, name, checkQueue(options), `memory-${id}`);
  return {
    id,
    scripts,
    operations: new Operations(scripts.calls, (args) => scripts.redriveStep(args)),
    messages,
    async take(want, ...acks) {
      const settlements = acks.map((ack) =>
        typeof ack === "string" ? { handle: ack } : { handle: ack[0], result: ack[1] },
      );
      const { given, late, dueInMs } = await scripts.take({ seq: nextSeq(), acks: settlements, want });
      return {
        handles: given.map(({ handle }) => handle),
        bodies: given.map(({ body }) => body),
        late,
        dueInMs,
      };
    },
    async push(...bodies) {
      const { pushed } = await scripts.push({ seq: nextSeq(), bodies, isWhole: true, extras: null }, 1_000);
      return pushed.map(({ id: one }) => one);
    },
    async back(handle, { delayMs = 0, isAttempt = true, reason = "boom" } = {}) {
      return (await scripts.back(nextSeq(), [{ handle, delayMs, isAttempt, reason }])).length === 0;
    },
    async deafen() {
      inbox.up = false;
      await listener?.unsubscribe();
    },
  };
}

/** What a gift says: its handle and its body. */
export function gift(message: string | undefined): { handle: string; body: string } {
  const [verb, word, handle = "", ...rest] = (message ?? "").split(" ");
  if (verb !== "queue" || word !== encodeURIComponent(name)) throw new Error(`no gift: ${message}`);
  return { handle, body: rest.join(" ") };
}

/** Until the messages that were published before have come. */
export async function heard(process: Process): Promise<string[]> {
  const mark = `mark ${nextSeq()}`;
  await redis.publish(inboxChannel("t", process.id), mark);
  for (;;) {
    const at = process.messages.indexOf(mark);
    if (at >= 0) return process.messages.splice(0, at + 1).slice(0, -1);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
