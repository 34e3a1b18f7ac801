/** Every kind of object that the client libraries make: known, or refused with what to do instead. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { GlideClient, GlideClusterClient } from "@valkey/valkey-glide";
import { Holdfast } from "holdfast";
import { Cluster, Redis } from "ioredis";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis5";
import { Redis as Iovalkey, Cluster as IovalkeyCluster } from "iovalkey";
import { createClient, createClientPool, createCluster, createSentinel } from "redis";
import { createClient as createClient4, createCluster as createCluster4 } from "redis4";
import {
  createClient as createClient5,
  createClientPool as createClientPool5,
  createCluster as createCluster5,
  createSentinel as createSentinel5,
} from "redis5";
import { afterAll, beforeAll, expect, test } from "vitest";

let server: EmbeddedValkey;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
});

afterAll(() => server.stop());

const lazy = { lazyConnect: true };
const nodes = [{ host: "127.0.0.1", port: 1 }];
const rootNodes = [{ url: "redis://127.0.0.1:1" }];
const sentinel = { name: "primary", sentinelRootNodes: nodes };

/** Whatever its type says, as a program without types would pass it. */
const constructing = (client: unknown) => () => new Holdfast(client as Redis);

test.each([
  ["ioredis 6", new Redis(lazy)],
  ["ioredis 6 behind Sentinel", new Redis({ ...lazy, sentinels: nodes, name: "primary" })],
  ["ioredis 5", new Redis5(lazy)],
  ["ioredis 5 behind Sentinel", new Redis5({ ...lazy, sentinels: nodes, name: "primary" })],
  ["iovalkey", new Iovalkey(lazy)],
  ["node-redis 6", createClient()],
  ["node-redis 6, another view of it", createClient().withCommandOptions({ asap: true })],
  ["node-redis 5", createClient5()],
  ["node-redis 4", createClient4()],
  ["node-redis 4 in legacy mode", createClient4({ legacyMode: true })],
])("%s is known, connected or not", async (_title, client) => {
  await constructing(client)().close();
});

test("GlideClient is known", async () => {
  const addresses = [{ host: "127.0.0.1", port: server.port }];
  const client = await GlideClient.createClient({ addresses });
  const hf = new Holdfast(client);
  expect(await hf.mutex("n").run((lease) => lease.valid)).toBe(true);
  await hf.close();
  client.close();
});

test.each([
  ["an ioredis 6 Cluster", new Cluster(nodes, lazy)],
  ["an ioredis 5 Cluster", new Cluster5(nodes, lazy)],
  ["an iovalkey Cluster", new IovalkeyCluster(nodes, lazy)],
  ["a pipeline", new Redis(lazy).pipeline()],
  ["a node-redis 6 cluster", createCluster({ rootNodes })],
  ["a node-redis 5 cluster", createCluster5({ rootNodes })],
  ["a node-redis 4 cluster", createCluster4({ rootNodes })],
  ["a node-redis 6 sentinel", createSentinel(sentinel)],
  ["a node-redis 5 sentinel", createSentinel5(sentinel)],
  ["a node-redis 6 pool", createClientPool()],
  ["a node-redis 5 pool", createClientPool5()],
  ["a node-redis transaction", createClient().multi()],
  ["the callbacks of node-redis 5", createClient5().legacy()],
  ["a GlideClusterClient", Object.create(GlideClusterClient.prototype)],
  ["a GlideClient without its configuration", Object.create(GlideClient.prototype)],
  ["a class", Redis],
])("%s is refused with what to do instead", (_title, client) => {
  expect(constructing(client)).toThrow(expect.objectContaining({ code: "UNSUPPORTED_CLIENT" }));
  expect(constructing(client)).toThrow(/ioredis.*node-redis.*GlideClient.*URL/);
});

test("the error for a client of node-redis 3, as in the README of redlock 4, asks for a later version", () => {
  // The members of redis 3.1.2 that holdfast looks at; they have the names of those of later versions, or none.
  const members = ["internal_send_command", "send_command", "evalsha", "duplicate", "on", "multi", "quit"];
  const client = Object.fromEntries(members.map((name) => [name, () => {}]));
  expect(constructing(client)).toThrow(expect.objectContaining({ code: "UNSUPPORTED_CLIENT" }));
  expect(constructing(client)).toThrow(/^a client of node-redis 3 or older .*version 4 or later .*ioredis/);
});

test("whoever uses Sentinel is told how", () => {
  expect(constructing(createSentinel(sentinel))).toThrow("new Redis({ sentinels, name })");
});

/** The members of ioredis-mock 8.13.1 that holdfast looks at; the library itself wants ioredis 5. */
function mockOfIoredis(): object {
  const methods = [
    "defineCommand",
    "duplicate",
    "on",
    "pipeline",
    "eval",
    "evalsha",
    "subscribe",
    "disconnect",
  ];
  return {
    ...Object.fromEntries(methods.map((name) => [name, () => {}])),
    ...{ connected: true, batch: undefined, subscriberMode: false, customCommands: {}, shaScripts: {} },
    ...{ keyData: "", context: {}, expires: {}, data: {}, dirty: {}, watching: {} },
  };
}

test("ioredis-mock is named, and what to use in tests instead", () => {
  expect(constructing(mockOfIoredis())).toThrow(expect.objectContaining({ code: "UNSUPPORTED_CLIENT" }));
  expect(constructing(mockOfIoredis())).toThrow(/^ioredis-mock .*@holdfast\/embedded/);
});
