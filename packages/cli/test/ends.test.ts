/** How a command under a lock ends, and what the shell and the next holder see of it: the signals, the terminal, who started it. */
import { fileURLToPath } from "node:url";
import { needing } from "@holdfast/conformance";
import { describe, expect, test, vi } from "vitest";
import { callerOf } from "./call.js";
import { isAlive, MAIN, Program } from "./program.js";
import { startBeside } from "./servers.js";
import { Terminal } from "./terminal.js";

vi.setConfig({ testTimeout: 60_000 });

/** For signals to arrive on a machine with its hands full. */
const WITHIN = { timeout: 30_000 };
const HOLDFAST = `'${process.execPath}' '${MAIN}'`;
const CLONE = fileURLToPath(new URL("../../..", import.meta.url));

const { server, hf } = await startBeside();

const env = (): NodeJS.ProcessEnv => ({ HOLDFAST_REDIS: server.url });
const holdfast = (...args: string[]): Program => new Program(args, env());
const sh = (script: string, more: NodeJS.ProcessEnv = {}): Program =>
  new Program(["-c", script], { ...env(), ...more }, [], "/bin/sh");
const { start } = callerOf(() => [server.url]);

/** What the next holder sees. */
async function isFree(name: string): Promise<boolean> {
  const lease = await hf.mutex(name).tryAcquire();
  await lease?.release();
  return lease !== null;
}

/** Takes the lock away from its holder. */
async function takeAway(name: string): Promise<void> {
  await (await hf.inspector()).forceRelease(name);
}

const isGone = (pid: string): Promise<unknown> => expect.poll(() => isAlive(Number(pid)), WITHIN).toBe(false);

needing(
  describe,
  "script",
  "bash",
)("at a terminal", () => {
  const terminal = (command: string): Terminal => new Terminal(command, env());
  const shell = async (): Promise<Terminal> => {
    const shown = terminal("exec bash --norc -i");
    shown.type("PS1='> '\n");
    await shown.shows(/^>$/m);
    return shown;
  };

  test("Ctrl-C ends the command, and the loop of the shell around it", async () => {
    const shown = await shell();
    shown.type(`for i in 1 2 3; do ${HOLDFAST} lock loop -- sh -c 'echo began; exec sleep 60'; done\n`);
    await shown.shows(/^began$/m);
    shown.type("\u0003");
    shown.type('echo "code $?"\n');
    await shown.shows(/^code 130$/m);
    expect(shown.text().match(/^began$/gm)).toHaveLength(1);
    expect(await isFree("loop")).toBe(true);
    shown.type("exit\n");
    await shown.ended();
  });

  test("a command that handles Ctrl-C goes on, and hears of it once", async () => {
    const handler = `'trap "echo caught; c=1" INT; echo started; until [ "$c" ]; do sleep 0.05; done; echo done'`;
    const shown = terminal(`exec ${HOLDFAST} lock handled -- sh -c ${handler}`);
    await shown.shows(/started/);
    shown.type("\u0003");
    expect(await shown.ended()).toBe(0);
    expect(shown.text().match(/caught/g)).toHaveLength(1);
    expect(shown.text()).toContain("done");
  });

  test("Ctrl-Z stops both; after fg the lease that ran out meanwhile ends the command", async () => {
    const shown = await shell();
    shown.type(`${HOLDFAST} lock stopped --ttl 5s -- sh -c 'echo started; exec sleep 60'\n`);
    await shown.shows(/^started$/m);
    shown.type("\u001a");
    await shown.shows(/Stopped/);
    await expect.poll(() => isFree("stopped"), WITHIN).toBe(true);
    shown.type("fg\n");
    await shown.shows(/\(expired\)/);
    shown.type('echo "code $?"\n');
    await shown.shows(/^code 70$/m);
    shown.type("exit\n");
    await shown.ended();
  });

  test("Ctrl-S stops what is seen; a lost lease ends the command all the same, and Ctrl-Q shows why", async () => {
    const shown = await shell();
    shown.type(`${HOLDFAST} lock still --ttl 5s -- sh -c 'echo "inner $$"; exec sleep 60'\n`);
    const [, pid = ""] = await shown.shows(/^inner (\d+)$/m);
    shown.type("\u0013");
    await takeAway("still");
    await isGone(pid);
    expect(shown.text()).not.toContain("is over");
    shown.type("\u0011");
    await shown.shows(/is over/);
    shown.type('echo "code $?"\n');
    await shown.shows(/^code 70$/m);
    shown.type("exit\n");
    await shown.ended();
  });

  test("a window that is closed ends the command, and leaves no lock behind", async () => {
    const shown = terminal(`exec ${HOLDFAST} lock closed -- sh -c 'echo "inner $$"; exec sleep 60'`);
    const [, pid = ""] = await shown.shows(/inner (\d+)/);
    shown.hangUp();
    await isGone(pid);
    await expect.poll(() => isFree("closed"), WITHIN).toBe(true);
  });

  test.each(["sh", "bash"])(
    "under nohup of %s, a window that is closed ends nothing; SIGTERM does",
    async (by) => {
      const inner = `'echo "inner $$ of $PPID" > /dev/tty; exec sleep 60'`;
      const RUN = `nohup ${HOLDFAST} lock kept-${by} -- sh -c ${inner} > /dev/null; true`;
      const shown = new Terminal(`exec ${by} -c "$RUN"`, { ...env(), RUN });
      const [, pid = "", parent = ""] = await shown.shows(/inner (\d+) of (\d+)/);
      shown.hangUp();
      await shown.ended();
      // By now, a holdfast that hears of a closed window would have ended.
      await holdfast("lock", "later", "--", "true").ended();
      expect([isAlive(Number(pid)), await isFree(`kept-${by}`)]).toEqual([true, false]);
      process.kill(Number(parent), "SIGTERM");
      await isGone(pid);
      await expect.poll(() => isFree(`kept-${by}`), WITHIN).toBe(true);
    },
  );

  test.each([
    { signal: "SIGTERM", exitCode: 143 },
    { signal: "SIGKILL", exitCode: 137 },
  ] as const)("$signal to holdfast alone ends the command", async ({ signal, exitCode }) => {
    const inner = `'echo "parent $PPID inner $$"; exec sleep 60'`;
    const shown = terminal(`exec ${HOLDFAST} lock signalled -- sh -c ${inner}`);
    const [, parent = "", pid = ""] = await shown.shows(/parent (\d+) inner (\d+)/);
    process.kill(Number(parent), signal);
    expect(await shown.ended()).toBe(exitCode);
    await isGone(pid);
  });
});

test("with the environment of cron: the words go to its mail, and the exit code says that the lease was lost", async () => {
  const job = `${HOLDFAST} lock cron --ttl 5s --redis ${server.url} -- sh -c "echo \\$\\$; exec sleep 60" < /dev/null`;
  const program = sh(`${job}; echo "code $?"`, { PATH: "/usr/bin:/bin", HOME: "/", SHELL: "/bin/sh" });
  const [pid = ""] = await program.printed(/^\d+$/m);
  await takeAway("cron");
  expect(await program.ended()).toMatchObject({
    stdout: `${pid}\ncode 70\n`,
    stderr: expect.stringMatching(/^holdfast: the lease on 'cron' .+: stopping the command\n$/),
  });
  expect(isAlive(Number(pid))).toBe(false);
});

test("a full pipe that nobody reads holds up nothing: a lost lease ends the command", async () => {
  const inner = 'echo $$; while :; do echo "a line that nobody reads" >&2; done';
  const program = sh(
    `exec 3>&1; { ${HOLDFAST} lock pipe --ttl 5s -- sh -c '${inner}'; echo "code $?" >&3; } 2>&1 >&3 | exec sleep 60`,
  );
  const [pid = ""] = await program.printed(/^\d+$/m);
  await takeAway("pipe");
  await program.printed(/^code 70$/m);
  expect(isAlive(Number(pid))).toBe(false);
  expect(await isFree("pipe")).toBe(true);
});

test("a command that may not be signalled works on: said at once, and in the end exit code 77", async () => {
  // As the kernel answers for what sudo has started.
  const refusing = `const { kill } = process; process.kill = (pid, signal) => {
    if (pid < 0 && signal !== 0) throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
    return kill.call(process, pid, signal);
  };`;
  const program = new Program(
    [
      "lock",
      "other-user",
      "--ttl",
      "5s",
      "--grace",
      "100ms",
      "--json",
      "--",
      "sh",
      "-c",
      "echo began; read line; echo $line",
    ],
    { ...env(), NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(refusing)}` },
  );
  await program.printed(/began/);
  await takeAway("other-user");
  await program.printed(/"event":"unstopped","lock":"other-user"/, "stderr");
  expect(await isFree("other-user")).toBe(true);
  program.child.stdin?.end("worked on\n");
  expect(await program.ended()).toMatchObject({ exitCode: 77, stdout: "began\nworked on\n" });
  expect(program.events()).toMatchObject([
    { event: "acquired" },
    { event: "lost", reason: expect.any(String) },
    { event: "unstopped" },
    { event: "ended", lost: true, exitCode: 0 },
  ]);
});

test("the grace of an outer lock bounds an inner one", async () => {
  const stubborn = `process.on("SIGTERM", () => {}); console.log(process.pid); setTimeout(() => {}, 60_000)`;
  const inner = [process.execPath, MAIN, "lock", "inner", "--ttl", "2s", "--grace", "1h", "--"];
  const program = holdfast(
    ...["lock", "outer", "--ttl", "5s", "--grace", "300ms", "--"],
    ...[...inner, process.execPath, "-e", stubborn],
  );
  const [pid = ""] = await program.printed(/^\d+$/m);
  await takeAway("outer");
  expect(await program.ended()).toMatchObject({ exitCode: 70 });
  await isGone(pid);
  await expect.poll(() => isFree("inner"), WITHIN).toBe(true);
});

test("nested locks hand a signal to the command once, and leave their neighbours alone", async () => {
  const hears = `process.on("SIGUSR1", () => console.log("heard")); console.log(process.pid); setTimeout(() => {}, 60_000)`;
  const inner = `${HOLDFAST} lock one-of-two --ttl 5s -- '${process.execPath}' -e '${hears}'`;
  const neighbour = `sh -c 'trap "" USR1; sleep 60 & echo by $!'`;
  const program = holdfast("lock", "both", "--", "sh", "-c", `trap : USR1; ${neighbour}; ${inner}; true`);
  const [, other = ""] = await program.printed(/^by (\d+)$/m);
  const [pid = ""] = await program.printed(/^\d+$/m);
  program.kill("SIGUSR1");
  await program.printed(/^heard$/m);
  await takeAway("one-of-two");
  await isGone(pid);
  expect(isAlive(Number(other))).toBe(true);
  process.kill(Number(other));
  expect((await program.ended()).stdout.match(/heard/g)).toHaveLength(1);
});

test("SIGTERM to npx ends holdfast, its command and its lock", async () => {
  const program = new Program(
    ["--no", "holdfast", "lock", "npx", "--", "sh", "-c", "echo $$; exec sleep 60"],
    { ...env(), npm_config_update_notifier: "false", npm_config_prefix: CLONE },
    ["--prefix", CLONE],
    "npx",
  );
  const [pid = ""] = await program.printed(/^\d+$/m);
  program.kill("SIGTERM");
  await isGone(pid);
  await expect.poll(() => isFree("npx"), WITHIN).toBe(true);
});

test("who is killed takes the command along, and is followed within the ttl with a larger fence", async () => {
  const inner = "sleep 60 & echo $! $HOLDFAST_FENCE; wait";
  const program = holdfast("lock", "orphan", "--ttl", "2s", "--", "sh", "-c", inner);
  const [, pid = "", first = ""] = await program.printed(/^(\d+) (\d+)$/m);
  program.child.kill("SIGKILL");
  await isGone(pid);
  const { exitCode, stdout } = await holdfast(
    "lock",
    "orphan",
    "--",
    "sh",
    "-c",
    "echo $HOLDFAST_FENCE",
  ).ended();
  expect(exitCode).toBe(0);
  expect(BigInt(stdout.trim())).toBeGreaterThan(BigInt(first));
});

test.each([
  { args: ["record", "put", "half", "-", "--text"], there: () => hf.record("half").get() },
  {
    args: ["event", "set", "half", "-", "--text"],
    there: async () => (await hf.event("half").get()).isSet || null,
  },
  {
    args: ["queue", "push", "half", "-", "--text"],
    there: async () => (await hf.queue("half").state()).waiting || null,
  },
  { args: ["signal", "emit", "half", "-", "--text"], there: async () => null },
])("Ctrl-C while $args read stdin: nothing is written of what has come", async ({ args, there }) => {
  const program = start(...args);
  program.stdin.write("half of a val");
  await expect.poll(() => program.stdin.readableLength, WITHIN).toBe(0);
  program.kill("SIGINT");
  // Ctrl-C ends who writes to it as well.
  program.stdin.end();
  expect(await program.ended()).toMatchObject({ signal: "SIGINT", stdout: "" });
  expect(await there()).toBeNull();
});

test("Ctrl-C that ends the writer as well: nothing is written of what has come", async () => {
  const ids = async (): Promise<string[]> =>
    String(await server.redis.client("LIST")).match(/^id=\d+/gm) ?? [];
  const before = new Set(await ids());
  const names = Array.from({ length: 6 }, (_, place) => `cut-${place}`);
  const pipes = names.map((name) =>
    sh(`{ printf half; exec sleep 60; } | ${HOLDFAST} record put ${name} - --text`),
  );
  const added = async (): Promise<number> => (await ids()).filter((id) => !before.has(id)).length;
  await expect.poll(added, WITHIN).toBe(names.length);
  for (const { child } of pipes) process.kill(-Number(child.pid), "SIGINT");
  for (const pipe of pipes) expect(await pipe.ended()).toMatchObject({ stdout: "" });
  expect(await Promise.all(names.map((name) => hf.record(name).get()))).toEqual(names.map(() => null));
});

test("queue pop | true: what nobody has read is not lost", async () => {
  const queue = hf.queue("unread");
  const program = sh(`{ ${HOLDFAST} queue pop unread --wait 1m; echo "code $?" >&2; } | true`);
  const inspector = await hf.inspector();
  await expect.poll(async () => (await inspector.queue("unread")).idle, WITHIN).toBe(1);
  await queue.push("kept");
  expect((await program.ended()).stderr).toMatch(/code 74\n$/);
  await expect.poll(() => queue.state(), WITHIN).toMatchObject({ returned: 1, inFlight: 0 });
});
