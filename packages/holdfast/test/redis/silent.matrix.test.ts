/** A connection for commands that has become half-open: one that holdfast opened is made anew, that of a user is left alone. */
import { FaultProxy, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { IndeterminateError } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RedisAddress } from "../../src/redis/clients/address.js";
import { detectClient } from "../../src/redis/clients/detect.js";
import { type Library, open } from "../../src/redis/clients/open.js";
import { Connection } from "../../src/redis/connection.js";
import { systemClock } from "../../src/time/clock.js";
import { Schedule } from "../../src/time/schedule.js";

let server: EmbeddedValkey;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
});

afterAll(() => server.stop());

const CALL_MS = 500;
const ping = (connection: Connection): Promise<unknown> => connection.command(["PING"], CALL_MS);

/** Runs `work` with a way to the server of its own. */
async function through(work: (proxy: FaultProxy, address: RedisAddress) => Promise<void>): Promise<void> {
  const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
  const { port } = proxy;
  try {
    await work(proxy, { host: "127.0.0.1", port, username: null, password: null, database: 0, tls: false });
  } finally {
    await proxy.close();
  }
}

const LIBRARIES = ["ioredis", "iovalkey", "redis", "redis4", "redis5", "@valkey/valkey-glide"] as const;

/** As holdfast opens it for a URL. */
async function opened(name: (typeof LIBRARIES)[number], address: RedisAddress): Promise<Connection> {
  const library: Library = name === "redis4" || name === "redis5" ? "redis" : name;
  return new Connection(
    open(library, (await import(name)) as never, address),
    true,
    new Schedule(systemClock),
  );
}

test.concurrent.each(LIBRARIES)(
  "the connection of %s answers again within seconds, and not by a break for each call without an answer",
  (name) =>
    through(async (proxy, address) => {
      const connection = await opened(name, address);
      await until("it is connected", async () => (await ping(connection).catch(() => null)) === "PONG");
      proxy.swallow();
      await expect(ping(connection)).rejects.toThrow(IndeterminateError);
      let calls = 1;
      await until("it answers again", async () => {
        calls += 1;
        return (await ping(connection).catch(() => null)) === "PONG";
      });
      expect(calls).toBeGreaterThanOrEqual(8);
      await connection.close();
    }),
);

test.concurrent.each(LIBRARIES)(
  "where the server never completes the connections of %s, others replace them",
  (name) =>
    through(async (proxy, address) => {
      proxy.set({ up: "drop" });
      const connections = await Promise.all([1, 2, 3, 4, 5].map(() => opened(name, address)));
      await Promise.all(connections.map((connection) => expect(ping(connection)).rejects.toThrow()));
      proxy.swallow();
      proxy.set({ up: "pass" });
      for (const connection of connections) {
        await until("it answers", async () => (await ping(connection).catch(() => null)) === "PONG");
        // The answer to another call would be a number or an error.
        for (let call = 0; call < 3; call += 1)
          expect(await connection.command(["ECHO", `${call}`], 5_000)).toBe(`${call}`);
        await connection.close();
      }
    }),
);

test.concurrent("a server that is slow to answer some calls and answers others is no reason", () =>
  through(async (proxy, address) => {
    const client = open("ioredis", (await import("ioredis")) as never, address);
    const connection = new Connection(client, true, new Schedule(systemClock));
    let renewals = 0;
    Object.assign(client, {
      renew: () => {
        renewals += 1;
      },
    });
    expect(await connection.command(["PING"], 5_000)).toBe("PONG");
    proxy.set({ downDelayMs: 100 });
    for (let round = 0; round < 12; round += 1) {
      const quick = connection.command(["PING"], 20);
      await expect(quick).rejects.toThrow(IndeterminateError);
      expect(await connection.command(["PING"], 5_000)).toBe("PONG");
    }
    expect(renewals).toBe(0);
    await connection.close();
  }));

test.concurrent("the client of a user is left alone", () =>
  through(async (proxy) => {
    const client = new Redis(proxy.url);
    client.on("error", () => {}); // the way to its server ends before it does
    const connection = new Connection(detectClient(client), false, new Schedule(systemClock));
    await until("it is connected", async () => (await client.ping()) === "PONG");
    proxy.swallow();
    for (let call = 0; call < 12; call += 1)
      await expect(ping(connection)).rejects.toThrow(IndeterminateError);
    expect(connection.disruptions).toBe(0);
    client.disconnect();
    await connection.close();
  }));
