/** `holdfast lanes`. */
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

const { start, call: holdfast, fed } = callerOf(() => [server.url], "lanes");
const { start: startAny } = callerOf(() => [server.url]);

test("a ticket is pushed, found, cancelled, and the lanes are shown", async () => {
  const lane = "customer 7\u001b[2J";
  const pushed = await holdfast("push", "l1", lane, '{"order":1}');
  expect(pushed).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^\d{16}@customer%207%1B%5B2J\n$/),
  });
  const second = await holdfast("push", "l1", lane, "two", "--text", "--json");
  const { ticket } = JSON.parse(second.stdout);
  expect(JSON.parse(second.stdout)).toEqual({ name: "l1", lane, ticket: expect.stringMatching(/^\d{16}@/) });
  const [at, json, ls, all, peek, state] = await Promise.all([
    holdfast("position", "l1", ticket),
    holdfast("position", "l1", ticket, "--json"),
    holdfast("ls", "l1"),
    holdfast("ls"),
    holdfast("peek", "l1", lane),
    holdfast("state", "l1", lane),
  ]);
  expect(at).toMatchObject({ exitCode: 0, stdout: "position 2, 1 ahead, nobody knows how long\n" });
  expect(JSON.parse(json.stdout)).toMatchObject({
    name: "l1",
    ticket,
    state: "waiting",
    position: 2,
    ahead: 1,
    etaMs: null,
  });
  expect(ls.stdout).toMatch(/^LANE +WAITING .*\ncustomer 7\\u\{1b\}\[2J +2\n$/);
  expect(all.stdout).toMatch(/^NAME +LANES +WAITING .*\nl1 +1 +2\n$/);
  expect(peek.stdout).toMatch(/^ID +BODY\n\d{16}@customer%207%1B%5B2J +{"order":1}\n\d{16}@\S+ +"two"\n$/);
  expect(state.stdout).toMatch(/^customer 7\\u\{1b\}\[2J\n +state +running\n +waiting +2\n/);
  expect(await holdfast("cancel", "l1", ticket)).toMatchObject({ exitCode: 0, stdout: "cancelled\n" });
  expect(await holdfast("cancel", "l1", ticket, "--json")).toMatchObject({ exitCode: 0 });
  expect(await holdfast("position", "l1", ticket)).toMatchObject({ exitCode: 1, stdout: "over\n" });
  expect(await holdfast("watch", "l1", ticket)).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/^\S+Z cancelled\n$/),
    stderr: "",
  });
});

test("watch follows a ticket to its result, beside a consumer that works", async () => {
  const lanes = hf.lanes<number, { sum: number }>("l2");
  const tickets = await lanes.pushMany([1, 2, 3].map((body) => ({ lane: "a", body })));
  const [plain, json] = [
    start("watch", "l2", tickets[2] as string, "--interval", "100ms"),
    start("watch", "l2", tickets[2] as string, "--interval", "100ms", "--json"),
  ];
  await plain.printed(/^\S+Z position 3, 2 ahead, /m);
  await json.printed(/"position":3/);
  const consumer = lanes.consume(async ({ body }) => ({ sum: body }));
  expect(await plain.ended()).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/\n\S+Z done: {"sum":3}\n$/),
  });
  const lines = jsonLines((await json.ended()).stdout);
  expect(lines.at(-1)).toMatchObject({
    name: "l2",
    ticket: tickets[2],
    state: "over",
    outcome: { status: "done", value: { sum: 3 }, encoding: "json" },
  });
  await consumer.stop();
  const later = start("watch", "l2", await lanes.push("a", 4));
  await later.printed(/position 1/);
  later.kill("SIGINT");
  expect(await later.ended()).toMatchObject({ signal: "SIGINT" });
});

test("each line of stdin is a message, for one lane or for its own", async () => {
  expect(await fed("1\n2\n\n3", "push", "l3", "a", "-")).toMatchObject({ exitCode: 0, stdout: "3\n" });
  const own = await fed('{"lane":"b","body":1}\n{"lane":"a","body":[4]}\n', "push", "l3", "-", "--json");
  expect(JSON.parse(own.stdout)).toMatchObject({ name: "l3", pushed: 2, last: expect.stringMatching(/@a$/) });
  const lanes = hf.lanes("l3");
  expect((await lanes.peek("a")).map(({ body }) => body)).toEqual([1, 2, 3, [4]]);
  const broken = await fed('{"lane":"b","body":2}\n{"body":3}\n', "push", "l3", "-");
  expect(broken).toMatchObject({ exitCode: 64, stdout: "" });
  expect(broken.stderr).toMatch(
    /1 message was pushed, the last one as \d{16}@b\n.*line 2: it must be an object with a lane/,
  );
  expect((await lanes.lane("b")).waiting).toBe(2);
});

test("lanes are paused, limited, drained and reset, one or all, and dead letters are redriven", async () => {
  const lanes = hf.lanes<number>("l4", { whenFailed: "dead-letter" });
  const watch = startAny("watch", "l4", "--kind", "lanes", "--interval", "50ms");
  expect(await holdfast("pause", "l4", "a")).toMatchObject({
    exitCode: 0,
    stdout: "the lane 'a' of 'l4' is paused\n",
  });
  await lanes.pushMany(["a", "b", "b"].map((lane, body) => ({ lane, body })));
  await watch.printed(/^\S+Z l4 2 lanes \(1 paused\), 3 waiting, 0 in flight, 0 dead$/m);
  let isBroken = true;
  let handled = 0;
  const consumer = lanes.consume(async () => {
    if (isBroken) throw new Error("no\u001b[31m");
    handled += 1;
  });
  await expect.poll(async () => (await lanes.state()).dead, PATIENT).toBe(2);
  const [dead, ls] = await Promise.all([holdfast("dead", "l4"), holdfast("ls", "l4", "--json")]);
  expect(dead.stdout).toMatch(/^ID +ATTEMPTS +SINCE +REASON +BODY\n\d{16}@b +1 +\S+Z +no\\u\{1b\}\[31m +2\n/);
  expect(JSON.parse(ls.stdout).lanes).toMatchObject([{ lane: "a", waiting: 1, isPaused: true }]);
  isBroken = false;
  expect(await holdfast("redrive", "l4", "--all")).toMatchObject({ exitCode: 0, stdout: "2\n" });
  // What it has been given and has not begun would go back into the lane.
  await expect.poll(() => handled, PATIENT).toBe(2);
  await consumer.stop();
  expect((await holdfast("limit", "l4", "a", "3")).stdout).toBe(
    "the lane 'a' of 'l4': at most 3 in flight\n",
  );
  expect((await lanes.lane("a")).limit).toBe(3);
  expect((await holdfast("limit", "l4", "a", "none", "--json")).stdout).toBe(
    '{"name":"l4","lane":"a","inFlight":null}\n',
  );
  expect((await lanes.lane("a")).limit).toBeNull();
  expect((await holdfast("pause", "l4", "--all", "--json")).stdout).toBe(
    '{"name":"l4","lane":null,"paused":true}\n',
  );
  expect((await holdfast("state", "l4")).stdout).toMatch(/^l4\n +state +paused\n +lanes +1, /);
  expect((await holdfast("resume", "l4", "--all")).stdout).toBe("the lanes 'l4' go on\n");
  expect((await holdfast("resume", "l4", "a")).stdout).toBe("the lane 'a' of 'l4' goes on\n");
  await lanes.push("c", 1);
  expect((await holdfast("drain", "l4", "a", "--yes")).stdout).toBe("1\n");
  expect((await holdfast("drain", "l4", "--all", "--yes", "--json")).stdout).toBe(
    '{"name":"l4","lane":null,"drained":1}\n',
  );
  expect((await holdfast("reset", "l4", "--yes")).stdout).toBe("the lanes 'l4' begin again\n");
  watch.kill("SIGINT");
  expect((await watch.ended()).exitCode).toBe(0);
});

test.each([
  { args: [], says: "a command is missing" },
  { args: ["push", "x", "a"], says: "BODY is missing" },
  { args: ["push", "x", "-", "--text"], says: "lines that name their lanes are JSON" },
  { args: ["position", "x", "seven"], says: "TICKET must be the text that push() gave" },
  {
    args: ["watch", "x", "1795255757243006@a", "--interval", "1ms"],
    says: "--interval must be 100ms or more",
  },
  { args: ["watch", "x", "seven"], says: "TICKET must be the text that push() gave" },
  { args: ["limit", "x", "a", "0"], says: "Give a whole number from 1, or none" },
  { args: ["drain", "x", "--all"], says: "add --yes" },
  ...["drain", "pause", "resume", "redrive"].flatMap((verb) => [
    { args: [verb, "x"], says: "nothing is named: give --all for all" },
    { args: [verb, "x", "a", "--all"], says: "name some, or give --all" },
  ]),
  { args: ["reset", "x"], says: "add --yes" },
])("$args: exit code 64", async ({ args, says }) => {
  const { exitCode, stdout, stderr } = await holdfast(...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
  expect(stderr).toContain(says);
  expect(stderr).not.toContain("no Redis");
});

needing(test, "script")("on a terminal, watch is one line, and the outcome stays", async () => {
  const lanes = hf.lanes<number, string>("l5");
  const [, ticket = ""] = await lanes.pushMany([1, 2].map((body) => ({ lane: "a", body })));
  const command = `exec '${process.execPath}' '${MAIN}' lanes watch l5 ${ticket} --interval 100ms`;
  const shown = new Terminal(command, { HOLDFAST_REDIS: server.url });
  await shown.shows(/^position 2, 1 ahead, nobody knows how long$/m);
  const first = await lanes.receive();
  await first?.ack("one");
  await shown.shows(/^position 1, 0 ahead, /m);
  expect(shown.text()).not.toMatch(/position 2/);
  await (await lanes.receive())?.ack("done\u001b[31m");
  expect(await shown.ended()).toBe(0);
  expect(shown.text()).toMatch(/^done: "done\\u001b\[31m"$/m);
  expect(shown.text()).not.toMatch(/position/);
});
