/** What a server tells of itself, on real servers that copy one another. */
import { anyProgram, needingAny, ServerProcess, until } from "@holdfast/conformance";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import {
  readServerFacts,
  type ServerFacts,
  wasReplaced,
} from "../../src/locks/backends/redlock/server-facts.js";
import { connectAll } from "../../src/redis/clients/connect.js";
import type { Connection } from "../../src/redis/connection.js";
import { systemClock } from "../../src/time/clock.js";
import { Schedule } from "../../src/time/schedule.js";

const SERVERS = ["valkey-server", "redis-server"] as const;
const program = anyProgram(...SERVERS);

async function start(): Promise<Redis> {
  const server = await ServerProcess.start({ program });
  onTestFinished(() => server.stop());
  const client = new Redis(server.port);
  onTestFinished(() => client.disconnect());
  await client.config("SET", "repl-diskless-sync-delay", "0");
  return client;
}

function factsOf(client: Redis): Promise<ServerFacts> {
  const [connection] = connectAll([client], new Schedule(systemClock)) as [Connection];
  return readServerFacts(connection, 30_000);
}

async function copy(client: Redis, other: Redis): Promise<void> {
  await client.replicaof("127.0.0.1", String(other.options.port));
  await until("it has the data", async () => (await client.info("replication")).includes("link_status:up"));
}

needingAny(test, ...SERVERS)(
  "a primary was replaced where it took over the data of another server",
  async () => {
    const [server, other] = [await start(), await start()];
    const first = await factsOf(server);
    expect([first.isReplica, wasReplaced(first, first)]).toEqual([false, false]);

    await server.replicaof("127.0.0.1", "1");
    expect(wasReplaced(first, await factsOf(server))).toBe(false);
    await server.replicaof("NO", "ONE");
    const unchanged = await factsOf(server);
    expect(wasReplaced(first, unchanged)).toBe(false);

    await copy(server, other);
    const replica = await factsOf(server);
    await server.replicaof("NO", "ONE");
    const replaced = await factsOf(server);
    const seen = [unchanged, replica].map((before) => wasReplaced(before, replaced));
    expect([replica.isReplica, ...seen, wasReplaced(replaced, replaced)]).toEqual([true, true, true, false]);

    await copy(other, server);
    expect(wasReplaced(replaced, await factsOf(server))).toBe(false);
  },
);
