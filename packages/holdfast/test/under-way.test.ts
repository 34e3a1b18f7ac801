/** What reaches a process in another order than it was sent: answers that are late, and an inbox that opens late. */
import { until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast, type Lease } from "holdfast";
import { Redis, type RedisOptions } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";

let server: EmbeddedValkey;
let redis: Redis;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(() => redis.flushall());

interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

function newGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** A client whose answers, and whose second connection, come when the test lets them. */
interface SlowClient {
  readonly client: Redis;
  answers: Promise<unknown>;
  inbox: Promise<unknown>;
  subscriber: Redis | null;
}

function slowClient(): SlowClient {
  const client = new Redis(server.url);
  const slow: SlowClient = {
    client,
    answers: Promise.resolve(),
    inbox: Promise.resolve(),
    subscriber: null,
  };
  const call = client.call.bind(client) as (...words: unknown[]) => Promise<unknown>;
  const late = async (...words: unknown[]): Promise<unknown> => {
    const { answers } = slow;
    const answer = await call(...words);
    await answers;
    return answer;
  };
  const duplicate = (options: RedisOptions): Redis => {
    const subscriber = new Redis(server.url, { ...options, lazyConnect: true } as object);
    void slow.inbox.then(() => subscriber.connect());
    slow.subscriber = subscriber;
    return subscriber;
  };
  Object.assign(client, { call: late, duplicate });
  return slow;
}

function open(): { hf: Holdfast; slow: SlowClient } {
  const slow = slowClient();
  const hf = new Holdfast(slow.client);
  onTestFinished(async () => {
    await hf.close();
    slow.client.disconnect();
  });
  return { hf, slow };
}

const lineOf = (name: string): Promise<string[]> => redis.zrange(`holdfast:{${name}}:line`, "0", "-1");

/** Whoever has stood in line once hears messages from then on. */
async function hearing(hf: Holdfast): Promise<void> {
  const { hf: other } = open();
  const held = await other.mutex("hearing").acquire();
  const waiting = hf.mutex("hearing").acquire();
  await until("it stands in line", async () => (await lineOf("hearing")).length === 1);
  await held.release();
  await (await waiting).release();
}

test("who was seen first is served first, even if its inbox opens after another stood in line", async () => {
  const [holder, first, second] = [open(), open(), open()];
  await hearing(second.hf);
  const held = await holder.hf.mutex("job").acquire();
  const gate = newGate();
  first.slow.inbox = gate.opened;
  const served: string[] = [];
  const serve = async (who: string, lease: Promise<Lease>): Promise<void> => {
    const got = await lease;
    served.push(who);
    await got.release();
  };
  const one = serve("first", first.hf.mutex("job").acquire({ wait: "10s" }));
  await until("the first has an answer, and opens its inbox", () => first.slow.subscriber);
  const two = serve("second", second.hf.mutex("job").acquire({ wait: "10s" }));
  await until("the second stands in line", async () => (await lineOf("job")).length === 1);
  gate.open();
  await until("the first stands in line", async () => (await lineOf("job")).length === 2);
  await held.release();
  await Promise.all([one, two]);
  expect(served).toEqual(["first", "second"]);
});

test.each(["tryAcquire", "acquire"] as const)(
  "a grant that is revoked before its answer arrives never begins: %s",
  async (method) => {
    const { hf, slow } = open();
    await hearing(hf);
    const inspector = await open().hf.inspector();
    const gate = newGate();
    slow.answers = gate.opened;
    const asked = hf.mutex("job")[method]();
    const { holder } = await until("it is granted", async () => {
      const state = await inspector.lock("job");
      return state.holder && { holder: state.holder };
    });
    expect(await inspector.forceRelease("job")).toMatchObject({ outcome: "released", told: true });
    await slow.subscriber?.ping(); // comes after the message
    slow.answers = Promise.resolve();
    gate.open();
    const lease = await asked;
    if (method === "tryAcquire") expect(lease).toBeNull();
    else expect(lease?.fence).toBeGreaterThan(holder.fence);
    expect((await inspector.lock("job")).holder?.fence ?? null).toBe(lease?.fence ?? null);
    if (lease) expect(lease.valid).toBe(true);
  },
);
