/** Ten thousand names that are used once: what each of them costs the process afterwards, for every noun. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Consumer, Holdfast } from "../src/index.js";

const NAMES = 10_000;
const AT_A_TIME = 100;
/** Leases of what is over are looked at once more. */
const REST_MS = 5_000;
const MOST_BYTES = 1_000;
const TERMS = { callTimeout: "1m" } as const;
const wait = "1m";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

let server: EmbeddedValkey;
let client: Redis;
let hf: Holdfast;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  client = new Redis(server.url);
  hf = new Holdfast(client, TERMS);
});
afterAll(async () => {
  await hf.close();
  client.disconnect();
  await server.stop();
});

const penalties = [{ kind: "busy", for: "1h" }] as const;
const guards = { hits: 5, per: "1h", penalties } as const;

const NOUNS: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
  mutex: (name) => hf.mutex(name).run(() => {}),
  semaphore: (name) => hf.semaphore(name, { permits: 2 }).run(() => {}),
  rwLock: async (name) => {
    await hf
      .rwLock(name)
      .read()
      .run(() => {});
    await hf
      .rwLock(name)
      .write()
      .run(() => {});
  },
  multiLock: (name) => hf.multiLock([hf.mutex(name), hf.mutex(`${name} too`)]).run(() => {}),
  record: async (name) => {
    const record = hf.record<number>(name);
    await record.put(1);
    await record.update((value) => (value ?? 0) + 1);
    for await (const _ of record.watch()) break;
  },
  once: (name) => hf.once(name, () => 1, { keep: "1h" }),
  limit: (name) => hf.limit(name, { max: 5, per: "1h" }).take("target"),
  "targets of a limit": (name) => hf.limit("one", { max: 5, per: "1h" }).take(name),
  guard: (name) => hf.guard(name, guards).hit("subject", "route"),
  "subjects of a guard": (name) => guardOfAll().hit(name, "route"),
  election: async (name) => (await hf.election(name).campaign()).resign(),
  signal: async (name) => {
    const signal = hf.signal(name);
    let isHeard = false;
    const heard = signal.wait({ wait }).then(() => {
      isHeard = true;
    });
    while (!isHeard) await signal.emit(1);
    await heard;
  },
  event: async (name) => {
    const event = hf.event(name);
    await Promise.all([event.wait({ wait }), event.set()]);
  },
  latch: async (name) => {
    const latch = hf.latch(name, 1);
    await Promise.all([latch.wait({ wait }), latch.countDown()]);
  },
  barrier: (name) => hf.barrier(name, 1).wait({ wait }),
  queue: async (name) => {
    const queue = hf.queue(name, { maxAttempts: 2 });
    const { id } = await queue.push(1);
    await (await queue.receive({ wait }))?.ack(1);
    await queue.result(id, { wait });
  },
  "consumers of queues": async (name) => {
    const queue = hf.queue(name);
    await queue.push(1);
    let consumer: Consumer | undefined;
    await new Promise<void>((resolve) => {
      consumer = queue.consume(() => resolve());
    });
    await consumer?.stop();
  },
  lanes: async (name) => {
    const lanes = hf.lanes(name, { whenFailed: "skip" });
    const ticket = await lanes.push("lane", 1);
    await lanes.position(ticket);
    await (await lanes.receive({ wait }))?.ack(1);
    await lanes.result(ticket, { wait });
  },
};

function guardOfAll(): ReturnType<Holdfast["guard"]> {
  guard ??= hf.guard("one", guards);
  return guard;
}
let guard: ReturnType<Holdfast["guard"]> | null = null;

async function heapBytes(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  for (let again = 0; again < 4; again++) collect();
  return process.memoryUsage().heapUsed;
}

test.each(Object.keys(NOUNS))(
  "%s",
  async (noun) => {
    const use = async (from: number, to: number): Promise<void> => {
      for (let name = from; name < to; name += AT_A_TIME)
        await Promise.all(
          Array.from({ length: AT_A_TIME }, (_, place) => NOUNS[noun]?.(`${noun} ${name + place}`)),
        );
    };
    await use(0, 2 * AT_A_TIME);
    const before = await heapBytes();
    await use(2 * AT_A_TIME, 2 * AT_A_TIME + NAMES);
    const bytes = Math.round(((await heapBytes()) - before) / NAMES);
    console.log(`${noun}: ${bytes} bytes for each name`);
    expect(bytes).toBeLessThan(MOST_BYTES);
  },
  300_000,
);
