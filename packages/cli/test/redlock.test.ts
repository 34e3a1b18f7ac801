/** The command over several servers: locks by a majority of them. */
import { freePort } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { call, callerOf } from "./call.js";
import { Program } from "./program.js";
import { untilListening } from "./servers.js";

vi.setConfig({ testTimeout: 60_000 });

let servers: EmbeddedValkey[];
let urls: string[];

async function startServers(): Promise<() => Promise<void>> {
  servers = await Promise.all([1, 2, 3].map(async () => EmbeddedValkey.start({ port: await freePort() })));
  urls = servers.map(({ url }) => url);
  return async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
}

/** The servers have just started, and nobody can have held a lock before. */
const NEW = ["--quarantine", "0"];

function start(...args: string[]): Program {
  return new Program(args, { HOLDFAST_REDIS: urls.join(" ") });
}

const { call: run } = callerOf(() => urls);

/** Holds the lock until the test is over. */
async function held(name: string): Promise<Program> {
  const holder = start("lock", name, ...NEW, "--", "sh", "-c", "echo has it; exec sleep 60");
  onTestFinished(() => holder.kill());
  await holder.printed(/has it/);
  return holder;
}

describe("with all servers", () => {
  beforeAll(startServers);

  test("a command runs under a lock, whose fence it knows; a second one is busy", async () => {
    const { exitCode, stdout } = await start(
      "lock",
      "busy",
      ...NEW,
      "--",
      "sh",
      "-c",
      "echo $HOLDFAST_FENCE",
    ).ended();
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^\d{16}\n$/) });
    await held("busy");
    const busy = await run("lock", "busy", ...NEW, "--wait", "2s", "--", "echo", "ran");
    expect(busy).toMatchObject({
      exitCode: 75,
      stdout: "",
      stderr: expect.stringContaining("is held by sh"),
    });
  });

  test("--redis for each server, before or behind the command, is the same", async () => {
    const each = urls.flatMap((url) => ["--redis", url]);
    const env = { HOLDFAST_REDIS: "redis://127.0.0.1:1" };
    for (const args of [
      [...each, "lock", "flags", ...NEW, "--", "true"],
      ["lock", "flags", ...each, ...NEW, "--", "true"],
    ])
      expect(await new Program(args, env).ended()).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("ls and show tell the holder by the votes of all, and --json has the nodes", async () => {
    await held("listed");
    const { locks, nodes } = JSON.parse((await run("ls", "listed", "--json", ...NEW)).stdout);
    expect(locks).toMatchObject([{ name: "listed", holder: { process: { label: "sh" } }, waiting: 0 }]);
    expect(nodes.map(({ membership }: { membership: string }) => membership)).toEqual(
      Array(3).fill("voting"),
    );
    const shown = JSON.parse((await run("show", "listed", "--json", ...NEW)).stdout);
    expect(shown).toMatchObject({ name: "listed", holder: { fence: locks[0].holder.fence } });
    expect(shown.nodes).toHaveLength(3);
  });

  test("release --force takes it at every server, and its command is stopped", async () => {
    const holder = await held("taken");
    for (const url of urls) await untilListening(url, 1);
    const { exitCode, stdout } = await run("release", "taken", "--force", "--yes", ...NEW);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringContaining("was taken from sh"),
    });
    expect(await holder.ended()).toMatchObject({ exitCode: 70, stderr: expect.stringContaining("revoked") });
  });

  test("doctor compares them: votes, versions, uptimes, clocks and what each keeps", async () => {
    const { exitCode, stdout } = await run("doctor", "--json", "--max-ttl", "10m");
    const { healthy, findings, nodes } = JSON.parse(stdout);
    // In quarantine: they have just started.
    expect({ exitCode, healthy }).toEqual({ exitCode: 1, healthy: false });
    expect(findings.map(({ code, severity }: Record<string, string>) => `${severity} ${code}`)).toEqual([
      "error nodes-votes",
    ]);
    for (const node of nodes)
      expect(node).toMatchObject({
        membership: "quarantined",
        facts: { kind: "valkey", uptimeSeconds: expect.any(Number), persistence: "none" },
      });
    const short = await run("doctor", ...NEW);
    expect(short).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining("warning nodes-persistence"),
    });
    expect(short.stdout).toMatch(
      /^NODE +VOTES +SERVER +UP +CLOCK +KEEPS\n(1 .* yes .*\n2 .* yes .*\n3 .* yes .*\n)/,
    );
    const accepted = await run("doctor", ...NEW, "--accept", "nodes-persistence");
    expect(accepted).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("No other finding needs"),
    });
  });
});

describe("with servers away", () => {
  beforeEach(startServers);

  test("a minority: locks go on, and each look names the server", async () => {
    await servers[2]?.stop();
    await held("a");
    const listed = await run("ls", ...NEW);
    expect(listed).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^a /m) });
    expect(listed.stderr).toMatch(/^holdfast: node 3 .* does not vote: .*\n.*may look free\n$/);
    const { exitCode, stdout } = await run("doctor", "--json", ...NEW);
    const { findings, nodes } = JSON.parse(stdout);
    expect(exitCode).toBe(1);
    expect(findings[0]).toMatchObject({ code: "nodes-votes", severity: "warning" });
    expect(nodes[2]).toMatchObject({ membership: "unreachable", findings: [{ code: "unreachable" }] });
  });

  test("a majority: exit code 69, and nothing ran", async () => {
    await Promise.all(servers.slice(1).map((server) => server.stop()));
    for (const args of [["lock", "a", "--", "echo", "ran"], ["ls"], ["show", "a"]]) {
      const { exitCode, stdout, stderr } = await run(...args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 69, stdout: "" });
      expect(stderr).toMatch(
        /^holdfast: 2 of 3 servers are away, and locks need 2: no Redis at .*ECONNREFUSED/,
      );
    }
    expect(await run("doctor")).toMatchObject({
      exitCode: 69,
      stdout: expect.stringContaining("nodes-votes"),
    });
  });

  test("servers that have just started do not vote: exit code 69 says for how long", async () => {
    const { exitCode, stderr } = await run("lock", "a", "--wait", "0", "--max-ttl", "10m", "--", "true");
    expect(exitCode).toBe(69);
    expect(stderr).toMatch(/needs 2 of 3 nodes.*votes in \d+/);
  });
});

describe("what cannot be", () => {
  const [one, two] = ["redis://127.0.0.1:1", "redis://127.0.0.1:2"];
  const both = ["--redis", one, "--redis", two];
  test.each([
    ["a server twice", ["--redis", one, "--redis", one, "ls"], /is named twice/],
    ["a noun of one server", [...both, "ls", "--kind", "queue"], /mutexes alone/],
    ["a command of one server", [...both, "record", "get", "a"], /works on one server/],
    ["a ttl above the longest", [...both, "lock", "a", "--ttl", "2m", "--", "true"], /--ttl/],
    ["a quarantine of one server", ["--redis", one, "ls", ...NEW], /for several servers/],
  ])("%s: exit code 64", async (_, args, told) => {
    const { exitCode, stdout, stderr } = await call(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
    expect(stderr).toMatch(told);
  });
});
