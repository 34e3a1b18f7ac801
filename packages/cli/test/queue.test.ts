/** `holdfast queue`. */
import { needing } from "@holdfast/conformance";
import { Holdfast } from "holdfast";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { callerOf } from "./call.js";
import { jsonLines } from "./printed.js";
import { MAIN } from "./program.js";
import { startEmbedded, type TestServer } from "./servers.js";
import { Terminal } from "./terminal.js";

/** Only what never comes meets it. */
const PATIENT = { timeout: 30_000 };

vi.setConfig({ testTimeout: 60_000 });

let server: TestServer;
let hf: Holdfast;
beforeAll(async () => {
  server = await startEmbedded();
  hf = new Holdfast(server.url, { callTimeout: "10s" });
});
afterEach(async () => void (await server.redis.flushall()));
afterAll(async () => {
  await hf?.close();
  await server?.stop();
});

const { start, call: holdfast, fed } = callerOf(() => [server.url], "queue");
const { start: startAny } = callerOf(() => [server.url]);

test("a message is pushed, seen, counted and taken, as text and as JSON", async () => {
  const pushed = await holdfast("push", "q1", '{"to":"ada"}');
  expect(pushed).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d{16}\n$/), stderr: "" });
  const id = pushed.stdout.trim();
  const second = await holdfast(
    "push",
    "q1",
    "plain\u001b[2J",
    "--text",
    "--json",
    "--dedupe",
    "d",
    "--dedupe-for",
    "1m",
  );
  expect(JSON.parse(second.stdout)).toEqual({ name: "q1", id: expect.any(String), isNew: true });
  const again = await holdfast("push", "q1", "7", "--dedupe", "d");
  expect(again).toMatchObject({ exitCode: 0, stdout: `${JSON.parse(second.stdout).id}\n` });
  expect(again.stderr).toMatch(/nothing was pushed/);
  const [peek, json, ls, state] = await Promise.all([
    holdfast("peek", "q1"),
    holdfast("peek", "q1", "--count", "1", "--json"),
    holdfast("ls", "q*"),
    holdfast("state", "q1"),
  ]);
  expect(peek.stdout).toMatch(
    new RegExp(`^ID +BODY\\n${id} +{"to":"ada"}\\n\\d{16} +"plain\\\\u001b\\[2J"\\n$`),
  );
  expect(JSON.parse(json.stdout)).toEqual({
    name: "q1",
    messages: [{ id, value: { to: "ada" }, encoding: "json" }],
  });
  expect(ls.stdout).toMatch(/^QUEUE +WAITING .*\nq1 +2 +[\d.]+ s\n$/);
  expect(state.stdout).toMatch(
    /^q1\n +state +running\n +order +fifo, as long as no program says lifo\n +waiting +2, the oldest for /,
  );
  expect(await holdfast("pop", "q1")).toMatchObject({ exitCode: 0, stdout: '{"to":"ada"}\n', stderr: "" });
  expect((await holdfast("pop", "q1", "--raw")).stdout).toBe("plain\u001b[2J");
  expect(await holdfast("pop", "q1", "--wait", "0")).toMatchObject({
    exitCode: 75,
    stdout: "",
    stderr: "holdfast: no message came in 'q1' in time\n",
  });
  const none = await holdfast("pop", "q1", "--wait", "2s", "--json");
  expect([none.exitCode, JSON.parse(none.stdout)]).toEqual([
    75,
    { name: "q1", id: null, value: null, encoding: null },
  ]);
});

test("messages that wait for their time are listed, the next one first", async () => {
  const queue = hf.queue<string>("q-delayed");
  const [late, soon] = [await queue.push("late", { delay: "2h" }), await queue.push("soon", { delay: "1h" })];
  const [text, json] = await Promise.all([
    holdfast("delayed", "q-delayed"),
    holdfast("delayed", "q-delayed", "--json", "--count", "1"),
  ]);
  expect(text.stdout).toMatch(
    new RegExp(`^ID +ATTEMPTS +DUE +BODY\\n${soon.id} +0 +\\S.*"soon"\\n${late.id} +0 +\\S.*"late"\\n$`),
  );
  expect(JSON.parse(json.stdout)).toEqual({
    name: "q-delayed",
    delayed: [{ id: soon.id, attempts: 0, dueInMs: expect.any(Number), value: "soon", encoding: "json" }],
  });
  await queue.reset();
  expect(await holdfast("delayed", "q-delayed")).toMatchObject({
    ...{ exitCode: 0, stdout: "" },
    stderr: expect.stringMatching("no message of 'q-delayed' is delayed"),
  });
});

test("a message that waits is cancelled, one that a process has is not, and is listed with its process", async () => {
  const queue = hf.queue<string>("q-cancel");
  const [runs, waits] = await queue.pushMany(["runs", "waits\u001b[2J"]);
  const delivery = await queue.receive({ wait: 0 });
  const [text, json] = await Promise.all([
    holdfast("in-flight", "q-cancel"),
    holdfast("in-flight", "q-cancel", "--json"),
  ]);
  expect(text.stdout).toMatch(
    new RegExp(`^ID +ATTEMPT +ENDS +PROCESS +BODY\\n${runs?.id} +1 +\\S+( m?s)? +\\S+ +"runs"\\n$`),
  );
  expect(JSON.parse(json.stdout)).toEqual({
    name: "q-cancel",
    inFlight: [
      {
        ...{ id: runs?.id, attempt: 1, token: String(delivery?.token), value: "runs", encoding: "json" },
        ...{ process: expect.any(String), remainingMs: expect.any(Number) },
      },
    ],
  });
  const cancel = (id = "") => holdfast("cancel", "q-cancel", id);
  expect(await cancel(waits?.id)).toMatchObject({ exitCode: 0, stdout: "cancelled\n", stderr: "" });
  expect(await cancel(runs?.id)).toMatchObject({
    exitCode: 1,
    stdout: "",
    stderr: expect.stringMatching("a process has it"),
  });
  expect((await cancel("7")).exitCode).toBe(64);
  await delivery?.ack();
  expect(await holdfast("in-flight", "q-cancel")).toMatchObject({ exitCode: 0, stdout: "" });
});

test("the state of a queue that was never used says so", async () => {
  const state = await holdfast("state", "never");
  expect(state.stdout).toMatch(/^never\n +state +unused\n/);
});

test("a pop waits for a push of another process; Ctrl-C ends it, and takes nothing along", async () => {
  const waiting = start("pop", "q2", "--wait", "forever");
  const inspector = await hf.inspector();
  await expect.poll(async () => (await inspector.queue("q2")).idle, PATIENT).toBe(1);
  await hf.queue("q2").push("late");
  expect(await waiting.ended()).toMatchObject({ exitCode: 0, stdout: '"late"\n' });
  const ended = start("pop", "q2", "--wait", "forever");
  await expect.poll(async () => (await inspector.queue("q2")).idle, PATIENT).toBe(1);
  ended.kill("SIGINT");
  expect(await ended.ended()).toMatchObject({ signal: "SIGINT", stdout: "" });
  await hf.queue("q2").push("kept");
  expect(await inspector.queue("q2")).toMatchObject({ waiting: 1, idle: 0, inFlight: 0 });
});

test("each line of stdin is a message, and they are pushed as they come", async () => {
  const queue = hf.queue<number>("q3");
  const many = Array.from({ length: 1_234 }, (_, place) => `${place}`).join("\n\n");
  const piped = await fed(many, "push", "q3", "-", "--json");
  const { pushed, first, last } = JSON.parse(piped.stdout);
  expect({ exitCode: piped.exitCode, pushed }).toEqual({ exitCode: 0, pushed: 1_234 });
  expect(BigInt(last)).toBeGreaterThan(BigInt(first));
  expect((await queue.peek({ count: 1_000 })).map(({ body }) => body)).toEqual([...Array(1_000).keys()]);
  await queue.drain();
  const live = start("push", "q3", "-", "--text");
  live.stdin.write("one\ntw");
  await expect.poll(async () => (await queue.state()).waiting, PATIENT).toBe(1);
  live.stdin.end("o\n\nthree");
  expect(await live.ended()).toMatchObject({ exitCode: 0, stdout: "4\n", stderr: "" });
  expect((await queue.peek()).map(({ body }) => body)).toEqual(["one", "two", "", "three"]);
  await queue.drain();
  expect((await fed(Uint8Array.of(0, 10, 255), "push", "q3", "-", "--bytes")).exitCode).toBe(0);
  expect((await queue.pop({ wait: 0 }))?.body).toEqual(Uint8Array.of(0, 10, 255));
});

test("a feed that ends early says what was pushed", async () => {
  const broken = await fed("1\n2\n{no\n4\n", "push", "q4", "-");
  expect(broken).toMatchObject({ exitCode: 64, stdout: "" });
  expect(broken.stderr).toMatch(
    /^holdfast: 2 messages were pushed, the last one as \d{16}\n.*line 3: BODY is not JSON/,
  );
  expect(await hf.queue("q4").drain()).toBe(2);
  const large = await fed(`1\n\n"${"x".repeat(1_100_000)}"\n3\n`, "push", "q4", "-");
  expect(large).toMatchObject({ exitCode: 64, stdout: "" });
  expect(large.stderr).toMatch(
    /^holdfast: 1 message was pushed.*\nholdfast: line 3: BODY must have at most 1 MiB/,
  );
  expect(await hf.queue("q4").drain()).toBe(1);
  const cut = start("push", "q4", "-", "--json");
  cut.stdin.write("1\n");
  await expect.poll(async () => (await hf.queue("q4").state()).waiting, PATIENT).toBe(1);
  cut.kill("SIGINT");
  const ended = await cut.ended();
  expect(ended).toMatchObject({ signal: "SIGINT", stdout: "" });
  expect(jsonLines(ended.stderr)).toMatchObject([
    { event: "pushed", pushed: 1, unknownLines: null },
    { event: "error", exitCode: 130 },
  ]);
  const full = await fed("1\n2\n3\n", "push", "q4", "-", "--max-length", "2");
  expect(full).toMatchObject({ exitCode: 75, stdout: "" });
  expect(await hf.queue("q4").drain()).toBe(1);
});

test("dead letters are shown and redriven, while a consumer runs", async () => {
  const queue = hf.queue<number, string>("q5", { maxAttempts: 1 });
  let isBroken = true;
  const consumer = queue.consume(async ({ body }) => {
    if (isBroken) throw new Error(`no ${body}\u001b[31m`);
    return "ok";
  });
  const ids = (await queue.pushMany([1, 2])).map(({ id }) => id);
  await expect.poll(async () => (await queue.state()).dead, PATIENT).toBe(2);
  const watch = startAny("watch", "q5", "--kind", "queue", "--interval", "50ms");
  await watch.printed(/^\S+Z q5 0 waiting, 0 delayed, 0 in flight, 2 dead$/m);
  ids.push((await queue.push(3)).id);
  await watch.printed(/^\S+Z q5 has new dead letters, .* 3 dead$/m);
  watch.kill("SIGINT");
  expect((await watch.ended()).stdout).toMatch(/^\S+Z q5 0 waiting/);
  const [dead, json, ls] = await Promise.all([
    holdfast("dead", "q5"),
    holdfast("dead", "q5", "--count", "1", "--json"),
    holdfast("ls", "--json"),
  ]);
  expect(dead.stdout).toMatch(/^ID +ATTEMPTS +SINCE +REASON +BODY\n\d{16} +1 +\S+Z +no 3\\u\{1b\}\[31m +3\n/);
  expect(JSON.parse(json.stdout).dead).toMatchObject([{ id: ids[2], attempts: 1, value: 3 }]);
  expect(JSON.parse(ls.stdout).queues).toMatchObject([{ name: "q5", dead: 3, idle: 1 }]);
  isBroken = false;
  expect(await holdfast("redrive", "q5", ids[1] as string)).toMatchObject({ exitCode: 0, stdout: "1\n" });
  expect(await queue.result(ids[1] as string)).toMatchObject({ status: "done", result: "ok" });
  expect(JSON.parse((await holdfast("redrive", "q5", "--all", "--json")).stdout)).toEqual({
    name: "q5",
    redriven: 2,
  });
  await expect.poll(async () => (await queue.state()).dead, PATIENT).toBe(0);
  await consumer.stop();
});

test("a queue is paused, drained and reset, and watched meanwhile", async () => {
  const queue = hf.queue("q6\u0007");
  await queue.pushMany([1, 2]);
  const watch = startAny("watch", "q6*", "--kind", "queue", "--interval", "50ms");
  await watch.printed(/^\S+Z q6\\u\{7\} 2 waiting, 0 delayed, 0 in flight, 0 dead$/m);
  expect(await holdfast("pause", "q6\u0007")).toMatchObject({
    exitCode: 0,
    stdout: "'q6\\u{7}' is paused\n",
  });
  await watch.printed(/^\S+Z q6\\u\{7\} paused, 2 waiting/m);
  expect(await queue.pop({ wait: 0 })).toBeNull();
  expect((await holdfast("resume", "q6\u0007", "--json")).stdout).toBe(
    '{"name":"q6\\u0007","paused":false}\n',
  );
  await watch.printed(/ resumed, /);
  expect(await holdfast("drain", "q6\u0007", "--yes")).toMatchObject({ exitCode: 0, stdout: "2\n" });
  expect(await holdfast("reset", "q6\u0007", "--yes")).toMatchObject({
    exitCode: 0,
    stdout: "'q6\\u{7}' begins again\n",
  });
  await watch.printed(/ reset, 0 waiting/);
  expect(await holdfast("peek", "q6")).toMatchObject({
    exitCode: 0,
    stdout: "",
    stderr: "holdfast: no message waits in 'q6'\n",
  });
  expect((await holdfast("dead", "q6")).stderr).toBe("holdfast: 'q6' has no dead letter\n");
  watch.kill("SIGINT");
  expect((await watch.ended()).exitCode).toBe(0);
});

test.each([
  { args: [], says: "a command is missing" },
  { args: ["push", "x"], says: "body" },
  { args: ["push", "x", "{no"], says: "BODY is not JSON" },
  { args: ["push", "x", "-", "--dedupe", "a"], says: "--dedupe is for one message" },
  { args: ["push", "x", "1", "--dedupe-for", "1h"], says: "--dedupe-for needs --dedupe" },
  { args: ["push", "x", "1", "--order", "random"], says: "--order" },
  { args: ["peek", "x", "--count", "5000"], says: "--count" },
  { args: ["redrive", "x"], says: "nothing is named: give --all for all" },
  { args: ["redrive", "x", "7"], says: "ID must be the id of a message" },
  { args: ["drain", "x"], says: "add --yes" },
  { args: ["reset", "x"], says: "add --yes" },
])("$args: exit code 64", async ({ args, says }) => {
  const { exitCode, stdout, stderr } = await holdfast(...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
  expect(stderr).toContain(says);
});

test("another order than the queue's is refused", async () => {
  await hf.queue("q7", { order: "lifo" }).push(1);
  const { exitCode, stderr } = await holdfast("push", "q7", "2", "--order", "fifo");
  expect(exitCode).toBe(64);
  expect(stderr).toMatch(/lifo/);
  expect((await holdfast("push", "q7", "2")).exitCode).toBe(0);
  expect((await holdfast("pop", "q7")).stdout).toBe("2\n");
});

needing(test, "script")("on a terminal, drain asks, and a push from stdin says how far it is", async () => {
  const queue = hf.queue<number>("q8");
  const terminal = (command: string): Terminal => new Terminal(command, { HOLDFAST_REDIS: server.url });
  const holdfast = `'${process.execPath}' '${MAIN}' queue`;
  const push = terminal(`(seq 3; trap "" INT; exec sleep 60) | ${holdfast} push q8 -`);
  await push.shows(/^3 pushed$/m);
  push.type("\u0003");
  await push.shows(/^holdfast: 3 messages were pushed, the last one as \d{16}$/m);
  expect((await queue.state()).waiting).toBe(3);
  const no = terminal(`exec ${holdfast} drain q8`);
  await no.shows(/'q8': 3 waiting, 0 delayed\.\s+Delete them\? \[y\/N\]/);
  no.type("n\n");
  await no.shows(/left as it is/);
  expect(await no.ended()).toBe(1);
  const yes = terminal(`exec ${holdfast} drain q8`);
  await yes.shows(/\[y\/N\]/);
  yes.type("y\n");
  expect(await yes.ended()).toBe(0);
  expect((await queue.state()).waiting).toBe(0);
});
