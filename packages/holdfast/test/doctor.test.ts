/** hf.doctor() on real servers: a healthy one, and ones that are set up badly on purpose. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  anyProgram,
  inTime,
  ManualClock,
  needing,
  needingAny,
  outcome,
  program as programOf,
  ServerProcess,
  type ServerTerms,
  UNHURRIED,
  until,
} from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { type DoctorReport, Holdfast, type HoldfastOptions, type Instant, systemClock } from "holdfast";
import { Redis, type RedisOptions } from "ioredis";
import { createClient } from "redis";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkServer, factsOf } from "../src/doctor/server-checks.js";
import { guidedUser } from "./guide.js";

const programs = [
  ["redis", programOf("redis-server")],
  ["valkey", programOf("valkey-server")],
] as const;
const SAFE = ["--appendonly", "yes", "--appendfsync", "always"];
const CLIENT_CODES = ["client-hangs", "client-silent", "client-queue", "client-repeats"];

let endings: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  endings = [];
});

afterEach(async () => {
  for (const end of endings.reverse()) await end();
});

async function start(terms: ServerTerms): Promise<ServerProcess> {
  const server = await ServerProcess.start({ ...terms, options: [...SAFE, ...(terms.options ?? [])] });
  endings.push(() => server.stop());
  return server;
}

interface Address {
  readonly host?: string;
  readonly port: number;
}

function clientOf(
  { host = "127.0.0.1", port }: Address,
  options: Omit<RedisOptions, "replyMapping"> = {},
): Redis {
  const client = new Redis({ port, host, retryStrategy: () => 10, ...options });
  client.on("error", () => {});
  endings.push(async () => client.disconnect());
  return client;
}

async function examined(client: Redis, options: HoldfastOptions = {}): Promise<DoctorReport> {
  const hf = new Holdfast(client, { ...UNHURRIED, ...options });
  endings.push(() => hf.close());
  return hf.doctor();
}

/** Calls end after a second of a clock that does not hurry, so that only those end by it that nobody answers. */
async function examinedSlowly(client: Redis): Promise<DoctorReport> {
  const clock = new ManualClock();
  return inTime(examined(client, { clock, callTimeout: 1_000 }), clock, 1);
}

/** Whatever is measured on it takes a while, and nothing ends by it. */
class SlowClock extends ManualClock {
  override now(): Instant {
    this.stall(300);
    return super.now();
  }
}

/** Codes of what was found, without those of the client's defaults, each with its severity. */
const diagnoses = ({ findings }: DoctorReport): string[] =>
  findings
    .filter(({ code }) => !CLIENT_CODES.includes(code))
    .map(({ severity, code }) => `${severity} ${code}`);

describe.each(programs)("%s", (kind, program) => {
  needing(describe, `${kind}-server`)("is examined:", () => {
    test("a healthy one, with its facts; nothing is left behind, and all of it is plain data", async () => {
      const server = await start({ program });
      const client = clientOf(server);
      const report = await examined(client);
      expect(diagnoses(report)).toEqual([]);
      expect(report.healthy).toBe(true);
      expect(report.findings.map(({ code, severity }) => [severity, code])).toEqual(
        ["client-hangs", "client-silent", "client-repeats", "client-queue"].map((code) => ["info", code]),
      );
      expect(report.facts).toMatchObject({
        kind,
        mode: "standalone",
        role: "primary",
        uptimeSeconds: expect.any(Number),
        persistence: "always",
        replicas: 0,
        maxMemoryBytes: 0,
        evictionPolicy: "noeviction",
      });
      expect(report.facts.version).toMatch(/^\d+\.\d+\.\d+$/);
      expect(report.facts.roundTripMs).toBeGreaterThan(0);
      const { clockOffsetMs, clockUncertaintyMs } = report.facts;
      expect(Math.abs(clockOffsetMs as number)).toBeLessThanOrEqual((clockUncertaintyMs as number) + 1);
      expect(await client.keys("*")).toEqual([]);
      expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    });

    test.each([
      ["may evict locks", ["--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru"], "error eviction"],
      ["would evict if it had a limit", ["--maxmemory-policy", "allkeys-lru"], "info eviction"],
      ["keeps nothing", ["--appendonly", "no"], "warning persistence"],
      ["takes snapshots only", ["--appendonly", "no", "--save", "3600 1"], "warning persistence"],
      ["leaves the disk to chance", ["--appendfsync", "no"], "warning persistence"],
      ["may lose a second", ["--appendfsync", "everysec"], "info persistence"],
      ["never says that it is busy", ["--busy-reply-threshold", "0"], "warning busy-threshold"],
      [
        "has little room for messages",
        ["--client-output-buffer-limit", "pubsub 1mb 512kb 60"],
        "warning message-buffer",
      ],
      [
        "keeps messages without a limit",
        ["--client-output-buffer-limit", "pubsub 0 0 0"],
        "warning message-buffer",
      ],
      ["has little room for connections", ["--maxclients", "1"], "warning connections"],
    ])("one that %s [H47]", async (_what, options, diagnosis) => {
      const server = await start({ program, options });
      expect(diagnoses(await examinedSlowly(clientOf(server)))).toContain(diagnosis);
    });
  });
});

const program = anyProgram("redis-server", "valkey-server");

needingAny(
  describe,
  "redis-server",
  "valkey-server",
)("doctor", () => {
  test("a full one: what it refuses, and the remedy", async () => {
    const report = await examined(clientOf(await start({ program, options: ["--maxmemory", "1"] })));
    expect(diagnoses(report)).toEqual(["error refused", "warning memory"]);
    expect(report.findings[0]).toMatchObject({ remedy: expect.stringContaining("maxmemory") });
  });

  test("one that a script blocks", async () => {
    const server = await start({ program, options: ["--busy-reply-threshold", "1"] });
    const client = clientOf(server);
    const endless = clientOf(server).eval("while true do end", 0);
    const killed = expect(endless).rejects.toThrow(/killed/i);
    await until("the server is busy", async () => {
      const answer = await client.ping().catch((error: Error) => error.message);
      return answer.startsWith("BUSY");
    });
    const busy = await examinedSlowly(client);
    expect(diagnoses(busy)).toContain("error refused");
    expect(busy.findings[0]).toMatchObject({ remedy: expect.stringContaining("SCRIPT KILL") });
    await client.script("KILL");
    await killed;
  });

  test("one that cannot save", async () => {
    const server = await start({ program, options: ["--save", "3600 1"] });
    const client = clientOf(server);
    mkdirSync(join(server.folder, "dump.rdb")); // a folder in the place of the file
    await client.bgsave();
    await until("a save has failed", async () =>
      (await client.info("persistence")).includes("rdb_last_bgsave_status:err"),
    );
    expect(diagnoses(await examined(client))).toEqual(["error saving-fails", "error refused"]);
  });

  test("a replica, and what its primary says of replication", async () => {
    const primary = await start({ program, options: ["--repl-diskless-sync-delay", "0"] });
    const replica = await start({ program, options: ["--replicaof", primary.host, String(primary.port)] });
    const [ofPrimary, ofReplica] = [clientOf(primary), clientOf(replica)];
    await until("the link is up", async () => (await ofReplica.info()).includes("master_link_status:up"));
    const report = await examined(ofReplica);
    expect(diagnoses(report)).toEqual(["error replica"]);
    expect(report.findings[0]?.remedy).toContain(`${primary.host}:${primary.port}`);
    expect(report.facts.role).toBe("replica");
    expect(diagnoses(await examined(ofPrimary))).toEqual(["warning replication"]);
    await ofPrimary.config("SET", "min-replicas-to-write", "1");
    await until("it counts the replica", async () =>
      (await ofPrimary.info("replication")).includes("min_slaves_good_slaves:1"),
    );
    expect(diagnoses(await examined(ofPrimary))).toEqual(["info replication"]);
    await ofReplica.config("SET", "replica-read-only", "no");
    expect((await examined(ofReplica)).findings[0]?.found).toContain("writable replica");
  });

  test("one that is almost full", async () => {
    const client = clientOf(await start({ program }));
    await client.setrange("filler", 100_000_000, "x");
    const used = Number(/used_memory:(\d+)/.exec(await client.info("memory"))?.[1]);
    await client.config("SET", "maxmemory", Math.ceil(used / 0.95));
    expect(diagnoses(await examined(client))).toEqual(["warning memory"]);
  });

  test("a node of a cluster", async () => {
    const node = await start({ program, cluster: true });
    expect(diagnoses(await examined(clientOf(node)))).toEqual(["error mode", "error refused"]);
  });

  test("a user with less than the guide's line: what is missing, by name", async () => {
    const server = await start({ program });
    const admin = clientOf(server);
    const [name = "", ...rules] = guidedUser().split(" ");
    const as = async (...changes: string[]): Promise<DoctorReport> => {
      await admin.call("ACL", "SETUSER", name, "reset", ...rules, ...changes);
      return examined(clientOf(server, { username: name, password: "secret" }));
    };
    // All that it needs; CONFIG is not part of it.
    expect(diagnoses(await as())).toEqual(["unknown config-unknown"]);
    const foundBy = async (...changes: string[]): Promise<string> => {
      const { findings } = await as(...changes);
      return findings
        .filter(({ code }) => code === "permissions")
        .map(({ found }) => found)
        .join("; ");
    };
    expect(await foundBy("-set", "-zadd")).toContain("the commands SET, ZADD");
    expect(await foundBy("-time")).toContain("the commands TIME");
    expect(await foundBy("resetkeys", "~other:*")).toContain("the keys holdfast:*");
    expect(await foundBy("resetchannels")).toMatch(/the channels holdfast:\*.*; .*SUBSCRIBE/);
    expect(await foundBy("-subscribe")).toContain("SUBSCRIBE");
    const withoutNouns = await foundBy("resetchannels", "&holdfast:inbox:*");
    expect(withoutNouns).toMatch(/SUBSCRIBE to holdfast:signal:\S+, holdfast:\{\S+\}:event/);
    const blind = await as("-info");
    expect(diagnoses(blind)).toEqual(["unknown info-unknown", "unknown config-unknown"]);
    expect(blind.healthy).toBe(true);
    expect(blind.facts).toMatchObject({ mode: "standalone", role: "primary", evictionPolicy: null });
    expect(blind.facts.version).toMatch(/^\d/);
  });

  test("a clock that is off, with its bounds", async () => {
    const server = await start({ program });
    const behind = { ...systemClock, now: () => later(systemClock.now(), -7_000) };
    const report = await examined(clientOf(server), { clock: behind });
    expect(diagnoses(report)).toEqual(["warning clock"]);
    const { clockOffsetMs: offsetMs, clockUncertaintyMs: uncertaintyMs } = report.facts;
    expect(Math.abs((offsetMs as number) - 7_000)).toBeLessThanOrEqual((uncertaintyMs as number) + 0.02);
  });

  test("a slow network, and one without room for the second connection", async () => {
    const client = clientOf(await start({ program }));
    await client.ping();
    expect(diagnoses(await examined(client, { clock: new SlowClock(), callTimeout: 1_000 }))).toContain(
      "warning latency",
    );
    await client.config("SET", "maxclients", "1");
    expect(diagnoses(await examinedSlowly(client))).toContain("warning wake-ups");
  });

  test("one that is frozen, and one that is not there: within the time limit of a call", async () => {
    const server = await start({ program });
    const client = clientOf(server);
    await client.ping();
    server.freeze();
    const frozen = await examined(client, { callTimeout: 50 });
    server.thaw();
    expect(diagnoses(frozen)).toEqual(["error unreachable"]);
    const clock = new ManualClock();
    const hf = new Holdfast("redis://127.0.0.1:1", { clock, callTimeout: 50 });
    endings.push(() => hf.close());
    await until("its client has tried", async () => {
      const { error } = await outcome(hf.mutex("any").tryAcquire(), clock);
      return String(error).includes("ECONNREFUSED");
    });
    const gone = await inTime(hf.doctor(), clock);
    expect(gone.findings[0]).toMatchObject({ found: expect.stringContaining("ECONNREFUSED") });
    expect(gone.facts.version).toBe(null);
  });

  test("options of ioredis [H33]", async () => {
    const server = await start({ program });
    const careful = {
      commandTimeout: 60_000,
      socketTimeout: 10_000,
      autoResendUnfulfilledCommands: false,
      enableOfflineQueue: false,
    };
    const client = clientOf(server, careful);
    await new Promise((resolve) => client.once("ready", resolve));
    expect((await examined(client)).findings).toEqual([]);
    const odd = {
      retryStrategy: null,
      commandTimeout: 500,
      socketTimeout: 10_000,
      keyPrefix: "app:",
    } as unknown as RedisOptions;
    expect(diagnoses(await examined(clientOf(server, odd)))).toEqual([
      "warning client-reconnect",
      "info client-limit",
      "info client-key-prefix",
    ]);
    client.disconnect();
    await until("it has ended", () => client.status === "end");
    expect(diagnoses(await examined(client, { callTimeout: 50 }))).toContain("error client-closed");
  });

  test("options of node-redis", async () => {
    const { host, port } = await start({ program });
    const client = createClient({
      socket: { host, port, reconnectStrategy: false },
      disableOfflineQueue: true,
    });
    client.on("error", () => {});
    await client.connect();
    endings.push(async () => client.destroy());
    const hf = new Holdfast(client, UNHURRIED);
    endings.push(() => hf.close());
    const codes = (await hf.doctor()).findings.map(({ severity, code }) => `${severity} ${code}`);
    expect(codes).toEqual(["warning client-reconnect", "info client-hangs", "info client-silent"]);
  });
});

test("the embedded Valkey keeps nothing, by design", async () => {
  const valkey = await EmbeddedValkey.start();
  endings.push(() => valkey.stop());
  const report = await examined(clientOf(valkey));
  expect(diagnoses(report)).toEqual(["info persistence"]);
  expect(report.healthy).toBe(true);
  expect(report.facts).toMatchObject({ kind: "valkey", version: expect.stringMatching(/^9\.1/) });
});

test("a doctor of a closed Holdfast is a mistake, and thrown", async () => {
  const valkey = await EmbeddedValkey.start();
  endings.push(() => valkey.stop());
  const hf = new Holdfast(valkey.url);
  await hf.close();
  await expect(hf.doctor()).rejects.toMatchObject({ code: "CLOSED" });
});

test.each([
  ["4.0.14", ["error version"]],
  ["6.2.14", ["warning version"]],
  ["7.0.0", []],
  ["10.1.0", []],
])("Redis %s [H46]", (version, expected) => {
  expect(diagnosesOf(new Map([["redis_version", version]]))).toEqual(expected);
});

test("a Sentinel", () => {
  expect(diagnosesOf(new Map([["redis_mode", "sentinel"]]))).toEqual(["error mode"]);
});

function diagnosesOf(info: Map<string, string>): string[] {
  const state = { info, infoError: null, config: new Map(), configError: null };
  const clockwork = { roundTripMs: null, clockOffsetMs: null, clockUncertaintyMs: null };
  return checkServer(state, factsOf(state, clockwork)).map(({ severity, code }) => `${severity} ${code}`);
}

test("docs/guides/doctor.md lists every code, and no other", () => {
  const folder = new URL("../src/doctor/", import.meta.url);
  const ofNodes = new URL("../../cli/src/commands/nodes-doctor.ts", import.meta.url);
  const files = [...readdirSync(folder).map((file) => new URL(file, folder)), ofNodes];
  const source = files.map((file) => readFileSync(file, "utf8"));
  const codes = new Set(
    source.flatMap((text) => [...text.matchAll(/code: "([a-z-]+)"/g)].map(([, code]) => code)),
  );
  const page = readFileSync(new URL("../../../docs/guides/doctor.md", import.meta.url), "utf8");
  const listed = [...page.matchAll(/^\| `([a-z-]+)`/gm)].map(([, code]) => code);
  expect(listed.sort()).toEqual([...codes].sort());
});

function later(instant: { monoMs: number; wallMs: number }, ms: number) {
  return { monoMs: instant.monoMs, wallMs: instant.wallMs + ms };
}
