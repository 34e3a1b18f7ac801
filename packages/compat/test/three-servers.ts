/** Three independent servers, started once for a suite, and what a test over all of them needs. */
import { EventLog, FaultProxy, RedisStore } from "@holdfast/conformance";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { closeHoldfasts } from "../src/shared-holdfast.ts";
import { HOST, onEachKind, type Server } from "./server.ts";

const COUNT = 3;

/** One of the three, as a test sees it. */
export interface Node {
  readonly port: number;
  /** On a connection that no fault touches. */
  readonly admin: Redis;
  /** Keys of holdfast's locks. */
  readonly store: RedisStore;
  restart(): Promise<void>;
}

export interface Three {
  readonly nodes: readonly [Node, Node, Node];
  readonly events: EventLog;
  /** A client for each server, closed with the test. */
  clients(): [Redis, Redis, Redis];
  /** The same through a proxy each. */
  proxied(): Promise<{
    clients: [Redis, Redis, Redis];
    proxies: readonly [FaultProxy, FaultProxy, FaultProxy];
  }>;
  /** A name that no other test has. */
  name(): string;
}

let names = 0;

/** Declares the suite once for each kind of server. `three()` is this test's. */
export function onThreeServers(suite: (three: () => Three) => void): void {
  onEachKind((start) => {
    let servers: Server[] = [];
    let three: Three;
    let end: () => Promise<void>;
    beforeAll(async () => {
      servers = await Promise.all(Array.from({ length: COUNT }, start));
    });
    afterAll(() => Promise.all(servers.map((server) => server.stop())));
    beforeEach(() => {
      [three, end] = makeThree(servers);
    });
    afterEach(() => end());
    suite(() => three);
  });
}

type Trio<T> = [T, T, T];

function makeThree(servers: readonly Server[]): [Three, () => Promise<void>] {
  const opened: Redis[] = [];
  const proxies: FaultProxy[] = [];
  const events = new EventLog();
  const open = (port: number): Redis => {
    const client = new Redis({ host: HOST, port, retryStrategy: () => 5, maxRetriesPerRequest: null });
    client.on("error", () => {});
    opened.push(client);
    return client;
  };
  const nodes = servers.map(({ port, restart }): Node => {
    const admin = open(port);
    return {
      port,
      admin,
      store: new RedisStore((command, ...words) => admin.call(command, ...words), "holdfast"),
      restart,
    };
  });
  const three: Three = {
    nodes: nodes as Trio<Node>,
    events,
    clients: () => servers.map(({ port }) => open(port)) as Trio<Redis>,
    async proxied() {
      const own = await Promise.all(servers.map(({ port }) => FaultProxy.start({ host: HOST, port })));
      proxies.push(...own);
      return {
        clients: own.map(({ port }) => open(port)) as Trio<Redis>,
        proxies: own as Trio<FaultProxy>,
      };
    },
    name: () => `several-${++names}`,
  };
  const end = async (): Promise<void> => {
    for (const proxy of proxies) proxy.heal();
    await closeHoldfasts(...opened);
    for (const client of opened) client.disconnect();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    events.close();
  };
  return [three, end];
}
