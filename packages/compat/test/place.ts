/** Where the compat suites run: the embedded engine, and a real redis-server where there is one. */
import { EventLog, FaultProxy, ManualClock, RedisStore } from "@holdfast/conformance";
import type { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { closeHoldfasts, holdfastOf } from "../src/shared-holdfast.ts";
import { HOST, onEachKind, type Server } from "./server.ts";

/** One test's surroundings. */
export interface Place {
  readonly events: EventLog;
  /** On a connection that no fault touches. */
  readonly admin: Redis;
  /** Keys of Holdfast's locks under the prefix. */
  store(prefix?: string): RedisStore;
  /** A client that is closed with the test. */
  client(url?: string): Redis;
  /** A client whose locks live by a clock that the test moves. */
  clocked(prefix?: string, url?: string): { client: Redis; clock: ManualClock; holdfast: Holdfast };
  proxy(): Promise<FaultProxy>;
  /** A name that no other test has. */
  name(): string;
  restartServer(): Promise<void>;
}

let names = 0;

/** Declares the suite once for each server. `place()` is this test's. */
export function onEachServer(suite: (place: () => Place) => void): void {
  onEachKind((start) => declare(start, suite));
}

function declare(start: () => Promise<Server>, suite: (place: () => Place) => void): void {
  let server: Server;
  let place: Place;
  let end: () => Promise<void>;

  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server?.stop());
  beforeEach(() => {
    [place, end] = makePlace(server);
  });
  afterEach(() => end());
  suite(() => place);
}

function makePlace(server: Server): [Place, () => Promise<void>] {
  const clients: Redis[] = [];
  const proxies: FaultProxy[] = [];
  const events = new EventLog();
  const open = (url = `redis://${HOST}:${server.port}`): Redis => {
    const client = new Redis(url, { retryStrategy: () => 5, maxRetriesPerRequest: null });
    client.on("error", () => {});
    clients.push(client);
    return client;
  };
  const admin = open();
  const place: Place = {
    events,
    admin,
    store: (prefix = "holdfast") =>
      new RedisStore((command, ...words) => admin.call(command, ...words), prefix),
    client: open,
    clocked(prefix, url) {
      const client = open(url);
      const clock = new ManualClock();
      return { client, clock, holdfast: holdfastOf(client, { clock, prefix }) };
    },
    async proxy() {
      const proxy = await FaultProxy.start({ host: HOST, port: server.port });
      proxies.push(proxy);
      return proxy;
    },
    name: () => `compat-${++names}`,
    restartServer: () => server.restart(),
  };
  const end = async (): Promise<void> => {
    for (const proxy of proxies) proxy.heal();
    await Promise.all(clients.map((client) => closeHoldfasts(client)));
    for (const client of clients) client.disconnect();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    events.close();
  };
  return [place, end];
}
