/** Intakes on the engine itself: processes over one queue for each test, whose requests the test can hold up, lose and count. */
import { ManualClock } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { DeliveryScripts, ParcelScripts, TakeRequest } from "../../src/deliveries/delivery-scripts.js";
import { Intake } from "../../src/deliveries/intake.js";
import { Names, type Parts } from "../../src/deliveries/names.js";
import { IndeterminateError } from "../../src/errors.js";
import { QueueScripts } from "../../src/queues/queue-scripts.js";
import { checkQueue, type QueueOptions, type QueueSettings } from "../../src/queues/settings.js";
import { detectClient } from "../../src/redis/clients/detect.js";
import { Connection } from "../../src/redis/connection.js";
import { RedisContext } from "../../src/redis/context.js";
import type { Random } from "../../src/time/random.js";
import { Schedule } from "../../src/time/schedule.js";

let server: EmbeddedValkey;
let redis: Redis;
/** The name of the queue of this test. */
let name: string;
let count = 0;
let closes: (() => Promise<void>)[] = [];

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
    name = `queue ${count++}:%/é`;
  });

  afterEach(async () => {
    await Promise.all(closes.map((close) => close()));
    closes = [];
  });
}

/** What a test does to the requests of a process: the real one, or none, or another. */
export type Doors = {
  -readonly [Method in keyof (DeliveryScripts & ParcelScripts)]?: (DeliveryScripts & ParcelScripts)[Method];
};

export interface Process {
  readonly clock: ManualClock;
  readonly context: RedisContext;
  readonly intake: Intake;
  readonly scripts: QueueScripts;
  readonly doors: Doors;
  /** The names of the requests of this process, as they were sent. */
  readonly sent: string[];
  readonly takes: TakeRequest[];
  push(...bodies: readonly unknown[]): Promise<string[]>;
  close(): Promise<void>;
}

interface ProcessOptions extends QueueOptions {
  readonly callTimeoutMs?: number;
}

let seq = 0;
const random: Random = { fraction: () => 0, id: () => `id${count++}` };

/** A process with a client of its own, whose time the test moves. */
export function open({ callTimeoutMs = 60_000, ...options }: ProcessOptions = {}): Process {
  const clock = new ManualClock();
  const client = new Redis(server.url);
  const schedule = new Schedule(clock);
  const settings = checkQueue(options);
  const connection = new Connection(detectClient(client), false, schedule);
  const context = new RedisContext(connection, {
    prefix: "t",
    label: "",
    callTimeoutMs,
    listenAfterMs: 1_000,
    schedule,
    random,
  });
  const scripts = new QueueScripts(context, name, settings, random.id());
  const [doors, sent, takes]: [Doors, string[], TakeRequest[]] = [{}, [], []];
  const watch = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get(target, key) {
        const shut: unknown = Reflect.get(doors, key);
        const member: unknown = shut ?? Reflect.get(target, key);
        if (member === scripts.parcels) return watch(scripts.parcels);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          sent.push(String(key));
          if (key === "take") takes.push(args[0] as TakeRequest);
          return member.apply(shut ? doors : target, args);
        };
      },
    });
  const terms = { ...settings, lastAttempt: settings.maxAttempts };
  const producer = { isIdle: true, close: async () => {} };
  const names = new Names<QueueSettings, Parts>(context, {
    verb: "queue",
    make: (named) => {
      const present = (): Intake => named.core.intake;
      return {
        intake: new Intake(context, watch(scripts), { ...terms, lasting: named.lasting, present }),
        producer,
      };
    },
  });
  const { intake } = names.add(name, settings).core;
  const close = async (): Promise<void> => {
    for (const door of Object.keys(doors)) Reflect.deleteProperty(doors, door);
    await names.close();
    await context.close();
    client.disconnect();
  };
  closes.push(close);
  return {
    clock,
    context,
    intake,
    scripts,
    doors,
    sent,
    takes,
    close,
    async push(...bodies) {
      seq += 1;
      const texts = bodies.map((body) => `j${JSON.stringify(body)}`);
      const { pushed } = await scripts.push({ seq, bodies: texts, isWhole: true, extras: null }, 5_000);
      return pushed.map(({ id }) => id);
    },
  };
}

/**
 * The request is carried out, and its answer is lost, as often as `times` says; meanwhile the answers of `beside` are lost, too. Returns
 * whether an answer has come after that, and no request is under way.
 */
export function loseAnswers(
  process: Process,
  method: "take" | "back" | "extend" | "leave",
  times: number,
  beside: readonly "look"[] = [],
): () => boolean {
  const { scripts } = process;
  const { parcels } = scripts;
  const real = {
    take: scripts.take.bind(scripts),
    back: scripts.back.bind(scripts),
    look: scripts.look.bind(scripts),
    extend: parcels.extend.bind(parcels),
    leave: parcels.leave.bind(parcels),
  };
  let left = times;
  let underWay = 0;
  for (const each of [method, ...beside])
    process.doors[each] = (async (...args: never[]) => {
      underWay += 1;
      const answer = await (real[each] as (...words: never[]) => Promise<unknown>)(...args);
      underWay -= 1;
      const isLost = left > 0;
      if (each === method) left -= 1;
      if (isLost) throw new IndeterminateError("the test lost the answer");
      return answer;
    }) as never;
  return () => left < 0 && underWay === 0;
}

/** Messages reach the process: it need not fetch what it may have missed. */
export async function ready(process: Process): Promise<void> {
  process.context.inbox.open();
  await until(() => process.context.inbox.up);
}

export const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause();
}

/** Resolves when this process has the answers to all that it has sent: they come in order. */
export async function answered({ scripts }: Process): Promise<void> {
  await scripts.look(0);
  await pause();
}

/** Resolves when Redis knows of this number of free places, of all processes together. */
export async function untilIdle(places: number): Promise<void> {
  await until(async () => (await idle()) === places);
}

/** Free places of all processes, as Redis knows them. */
async function idle(): Promise<number> {
  const words = await redis.zrange(`t:{${name}}:queue:idle`, "0", "-1", "WITHSCORES");
  return words.reduce((sum, word, place) => (place % 2 === 0 ? sum : sum - Number(word)), 0);
}

/** Deliveries that are neither settled nor returned. */
export function parked(): Promise<number> {
  return redis.zcard(`t:{${name}}:queue:away`);
}

/** The latest deadline of all deliveries, from now by the server's clock. */
export async function longestLeaseMs(): Promise<number> {
  const [, deadline] = await redis.zrange(`t:{${name}}:queue:away`, "-1", "-1", "WITHSCORES");
  return Number(deadline) - Date.now();
}

export const forever = { waitMs: Number.POSITIVE_INFINITY, signal: undefined, deadlineMs: 30_000 };
