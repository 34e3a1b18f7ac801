/** node-redis leaves a socket open whose client ends while it connects, and arms a timer for each command. */
import { FaultProxy, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { createClient } from "redis";
import { createClient as createClient4 } from "redis4";
import { createClient as createClient5 } from "redis5";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { endOf, type NodeRedisLike, nodeRedisClient } from "../src/redis/clients/node-redis.js";

const BACKOFF_MS = 20;

describe("node-redis", () => {
  let server: EmbeddedValkey;
  let proxy: FaultProxy;
  const listener = { message() {}, connected() {}, disconnected() {}, outdated() {} };
  const open = () => {
    const socket = { reconnectStrategy: () => BACKOFF_MS };
    const client = createClient({ url: proxy.url, socket });
    client.on("error", () => {});
    return client;
  };

  /** So many connections are left when all that was begun before has had its turn. */
  const left = async (count: number) => {
    await new Promise((resolve) => setTimeout(resolve, BACKOFF_MS + 1)); // behind the timers of before
    const last = open();
    await last.connect();
    last.destroy();
    await until(`${count} connections`, () => proxy.connections === count);
  };

  // Its listeners are typed as taking anything, which is more than what is asked of them.
  const like = (client: ReturnType<typeof open>) => client as unknown as NodeRedisLike;

  beforeAll(async () => {
    server = await EmbeddedValkey.start();
  });
  beforeEach(async () => {
    proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
  });
  afterEach(() => proxy.close());
  afterAll(() => server.stop());

  test("a break is reported once, also by a client that its user connects again", async () => {
    let breaks = 0;
    const follow = (client: ReturnType<typeof open>) =>
      nodeRedisClient(like(client)).onDisruption(() => {
        breaks += 1;
      });
    const own = open();
    const ends = follow(own);
    await own.connect();
    expect(breaks).toBe(0);
    proxy.cut();
    await until("it is reported", () => own.isReady && breaks > 0);
    expect(breaks).toBe(1);
    ends();
    own.destroy();

    breaks = 0;
    const manual = createClient({ url: proxy.url, socket: { reconnectStrategy: false } });
    manual.on("error", () => {});
    await manual.connect();
    follow(manual);
    proxy.cut();
    await until("it is closed", () => !manual.isOpen);
    await manual.connect();
    expect(breaks).toBe(1);
    manual.destroy();
  });

  test("a command has no timer of the library's, whether it is written at once or waits", async () => {
    const timers = vi.spyOn(AbortSignal, "timeout");
    onTestFinished(() => timers.mockRestore());
    const client = open();
    const adapter = nodeRedisClient(like(client));
    const connected = client.connect();
    const waiting = adapter.send([["PING"]]);
    await connected;
    await Promise.all(waiting);
    expect(await Promise.all(adapter.send([["PING"], ["ECHO", "text"]]))).toEqual(["PONG", "text"]);
    expect(timers).not.toHaveBeenCalled();
    client.destroy();
  });

  test("a subscription that ends as it begins leaves no connection", async () => {
    const client = open();
    await client.connect();
    nodeRedisClient(like(client)).openMessages(listener).close();
    await left(1);
    client.destroy();
  });

  test.each(["at once", "in the same tick", "when it is connected"])(
    "a client ended %s is closed",
    async (when) => {
      const client = open();
      const connected = client.connect().catch(() => {});
      const end = endOf(like(client));
      if (when === "in the same tick") await Promise.resolve();
      if (when === "when it is connected") await connected;
      end();
      await left(0);
      expect([client.isOpen, client.isReady]).toEqual([false, false]);
    },
  );

  test.each([
    ["6", createClient],
    ["5", createClient5],
    ["4", createClient4],
  ])(
    "version %s leaves no socket at a server that takes connections and never answers",
    async (_, create) => {
      proxy.set({ down: "hold" });
      const client = (create as typeof createClient)({ url: proxy.url });
      for (let again = 0; again < 3; again++) {
        const messages = nodeRedisClient(like(client)).openMessages(listener);
        await until("it is accepted", () => proxy.connections === 1);
        messages.close();
        await until("it is closed", () => proxy.connections === 0);
      }
    },
  );

  test("a client ended while it connects again is closed, and one that cannot connect gives up", async () => {
    for (const isAway of [false, true]) {
      const client = open();
      const connected = client.connect();
      const end = endOf(like(client));
      await connected;
      const again = new Promise<void>((resolve) => client.once("reconnecting", () => resolve()));
      if (isAway) proxy.refuse();
      else proxy.cut();
      await again;
      end();
      await until("it is closed", () => !client.isOpen && proxy.connections === 0);
      proxy.heal();
      await left(0);
      expect([client.isOpen, client.isReady]).toEqual([false, false]);
    }
  });
});
