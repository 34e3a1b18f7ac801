/** Behind Sentinel an ioredis is an ordinary client: locks go on at the new primary. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch, needing, program as programOf, ServerProcess, until } from "@holdfast/conformance";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Iovalkey } from "iovalkey";
import { afterAll, beforeAll, expect, test } from "vitest";

const program = programOf("redis-server");
const HOST = "127.0.0.1";
const servers: ServerProcess[] = [];
const clients: { disconnect(): void }[] = [];
let sentinel: ChildProcess;
let sentinels: { host: string; port: number }[];

beforeAll(async () => {
  if (program === "") return;
  const primary = await ServerProcess.start({ program, options: ["--repl-diskless-sync-delay", "0"] });
  servers.push(primary);
  const replica = await ServerProcess.start({
    program,
    options: ["--replicaof", HOST, String(primary.port)],
  });
  servers.push(replica);
  // A third, only for its port and its folder, which are free when it has ended.
  const place = await ServerProcess.start({ program });
  servers.push(place);
  await place.kill();
  const file = join(place.folder, "sentinel.conf");
  writeFileSync(
    file,
    `port ${place.port}\nbind ${HOST}\nsentinel monitor primary ${HOST} ${primary.port} 1\n`,
  );
  sentinel = launch(program, [file, "--sentinel"], { stdio: "ignore" });
  sentinels = [{ host: HOST, port: place.port }];
  const asked = clientOf(new Redis({ ...sentinels[0], retryStrategy: () => 10 }));
  await until("the sentinel knows the replica", async () => {
    const known = (await asked.call("SENTINEL", "REPLICAS", "primary").catch(() => [])) as unknown[];
    return JSON.stringify(known).includes('"slave-priority"') && JSON.stringify(known).includes('"ok"');
  });
});

afterAll(async () => {
  for (const client of clients) client.disconnect();
  if (!sentinel) return;
  const exited = once(sentinel, "exit");
  sentinel.kill("SIGKILL");
  await exited;
  await Promise.all(servers.map((server) => server.stop()));
});

function clientOf<Client extends { disconnect(): void; on(event: "error", listener: () => void): unknown }>(
  client: Client,
): Client {
  client.on("error", () => {});
  clients.push(client);
  return client;
}

needing(test, "redis-server")("locks go on at the new primary, and so do their wake-ups", async () => {
  const options = { sentinels, name: "primary", sentinelRetryStrategy: () => 50, retryStrategy: () => 50 };
  const all = [new Redis(options), new Redis5(options), new Iovalkey(options)].map(
    (client) => new Holdfast(clientOf(client)),
  );
  const [one, two, three] = all as [Holdfast, Holdfast, Holdfast];
  const before = await one.mutex("n").acquire();
  const waiting = [two, three].map(async (hf) => {
    const lease = await hf.mutex("n").acquire({ wait: "1m" });
    expect(await lease.release()).toBe("released");
    return lease.fence;
  });
  expect(await before.release()).toBe("released");
  const fences = await Promise.all(waiting);
  expect(fences.every((fence) => fence > before.fence)).toBe(true);

  const asked = clientOf(new Redis({ ...sentinels[0] }));
  await asked.call("SENTINEL", "FAILOVER", "primary");
  const promoted = clientOf(new Redis({ host: HOST, port: servers[1]?.port ?? 0 }));
  await until("the replica is the primary", async () =>
    JSON.stringify(await promoted.call("ROLE")).includes("master"),
  );
  // Until it is told, the old primary would grant on, and what it grants then is lost.
  await servers[0]?.kill();

  const after = await one.mutex("n").acquire({ wait: "1m" });
  expect(fences.every((fence) => fence < after.fence)).toBe(true);
  const woken = two.mutex("n").acquire({ wait: "1m" });
  await until("it stands in line there", async () => (await promoted.zcard("holdfast:{n}:line")) === 1);
  expect(await after.release()).toBe("released");
  expect((await woken).fence).toBeGreaterThan(after.fence);
  await Promise.all(all.map((hf) => hf.close()));
});
