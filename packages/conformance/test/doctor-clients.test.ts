/** hf.doctor() reads the same from a server through every client library, whatever shape its replies have. */
import { needing, program as programOf } from "@holdfast/conformance";
import { GlideClient } from "@valkey/valkey-glide";
import { Holdfast } from "holdfast";
import { afterAll, beforeAll, expect, test } from "vitest";
import { glide, ioredis, ioredis5, iovalkey, nodeRedis, nodeRedis4, nodeRedis5 } from "./clients.ts";
import { startServer, type TestServer } from "./servers.ts";

const program = programOf("redis-server");
const kinds = [
  ioredis(),
  ioredis(2),
  ioredis5(),
  iovalkey(),
  nodeRedis(),
  nodeRedis(2),
  nodeRedis5(),
  nodeRedis4(),
  glide(),
];

let server: TestServer;

beforeAll(async () => {
  if (program !== "") server = await startServer({ title: "redis-server", program: "redis-server" });
});

afterAll(() => server?.stop());

needing(test, "redis-server")("valkey-glide ends calls after 250 ms unless told otherwise", async () => {
  const { host, port } = server;
  const client = await GlideClient.createClient({ addresses: [{ host, port }] });
  const hf = new Holdfast(client);
  const limit = (await hf.doctor()).findings.find(({ code }) => code === "client-limit");
  expect(limit?.found).toContain("requestTimeout is 250 ms");
  await hf.close();
  client.close();
});

needing(test, "redis-server").each(kinds.map((clients) => [clients.title, clients] as const))(
  "through %s",
  async (_title, clients) => {
    const { client, close } = await clients.open(`redis://${server.host}:${server.port}`);
    await server.command("CONFIG", "SET", "busy-reply-threshold", "0", "maxmemory-policy", "allkeys-lru");
    const hf = new Holdfast(client);
    const { findings, facts } = await hf.doctor();
    // The matrix gives GLIDE a limit longer than that of a call.
    expect(findings.map(({ code }) => code)).not.toContain("client-limit");
    await hf.close();
    close();
    const seen = findings.filter(({ code }) => !code.startsWith("client-"));
    expect(seen.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
      "warning busy-threshold", // read by CONFIG GET
      "warning persistence",
      "info eviction", // read by INFO
    ]);
    expect(seen[1]?.found).toContain("takes no snapshots");
    expect(facts).toMatchObject({ kind: "redis", mode: "standalone", role: "primary", replicas: 0 });
    expect(
      findings.filter(({ severity, code }) => severity !== "info" && code.startsWith("client-")),
    ).toEqual([]);
  },
);
