/** The port over a client: batches, limits, errors and unknown scripts, with a client the test plays. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, describe, expect, test } from "vitest";
import { oneServer, type RedisClient } from "../src/redis/client.js";
import { parseRedisUrl } from "../src/redis/clients/address.js";
import { detectClient } from "../src/redis/clients/detect.js";
import { openClient } from "../src/redis/clients/url.js";
import { Connection } from "../src/redis/connection.js";
import type { MessageListener, Topic } from "../src/redis/port.js";
import { slotOfKey } from "../src/redis/slots.js";
import { Schedule } from "../src/time/schedule.js";

interface Sent {
  readonly command: readonly string[];
  readonly reply: (value: unknown) => void;
  readonly fail: (error: Error) => void;
}

/** As long as an alarm after a stall waits for the next answer. */
const READ_MS = 5;
const SCRIPT = { name: "s", source: "return 1", sha1: "sha-of-s" };

let clock: ManualClock;
let writes: Sent[][];
let client: RedisClient;
let connection: Connection;
let reporting: MessageListener | undefined;
let closed: boolean;
let breaks: () => void;

beforeEach(() => {
  clock = new ManualClock();
  writes = [];
  closed = false;
  reporting = undefined;
  client = {
    ...oneServer,
    library: "ioredis",
    address: null,
    send(commands) {
      const batch: Sent[] = [];
      writes.push(batch);
      return commands.map(
        (command) => new Promise((reply, fail) => void batch.push({ command, reply, fail })),
      );
    },
    openMessages(listener) {
      reporting = listener;
      const subscribe = async ({ name }: Topic): Promise<void> => {
        if (name !== "channel") throw new Error(name);
      };
      return { subscribe, unsubscribe: subscribe, ping: async () => {}, close() {} };
    },
    onDisruption(listener) {
      breaks = listener;
      return () => {};
    },
    trouble: () => null,
    close() {
      closed = true;
    },
  };
  connection = new Connection(client, true, new Schedule(clock));
});

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a connection", () => {
  test("sends the calls of one tick in one write, those of the next in the next", async () => {
    const replies = [connection.command(["A"], 100), connection.command(["B"], 100)];
    await Promise.resolve();
    replies.push(connection.command(["C"], 100)); // a continuation of the same tick
    await tick();
    expect(writes.map((write) => write.map((sent) => sent.command[0]))).toEqual([["A", "B", "C"]]);
    for (const sent of writes[0] as Sent[]) sent.reply(sent.command[0]);
    expect(await Promise.all(replies)).toEqual(["A", "B", "C"]);
    await tick();
    expect(clock.pendingTimers).toBe(0);
  });

  test("settles a call that has no answer, and ignores an answer that comes late [H24]", async () => {
    const call = connection.command(["GET", "k"], 100);
    await tick();
    clock.advance(100);
    await expect(call).rejects.toMatchObject({ code: "INDETERMINATE" });
    writes[0]?.[0]?.fail(new Error("late"));
    await tick();
  });

  test("after a stall of the process, reads what came meanwhile before it gives up", async () => {
    const call = connection.command(["GET", "k"], 100);
    await tick();
    clock.stall(500);
    clock.advance(0);
    writes[0]?.[0]?.reply("in time");
    expect(await call).toBe("in time");
  });

  test("after a stall waits for as long as answers come, and no longer than the stall took", async () => {
    const calls = [0, 1, 2, 3].map((at) => connection.command(["GET", `${at}`], 100));
    await tick();
    clock.stall(400);
    clock.advance(0);
    // Large answers take many turns of the event loop.
    for (const at of [0, 1, 2]) {
      writes[0]?.[at]?.reply(at);
      await tick();
      clock.advance(READ_MS);
    }
    expect(await Promise.all(calls.slice(0, 3))).toEqual([0, 1, 2]);
    const last = expect(calls[3]).rejects.toMatchObject({ code: "INDETERMINATE" });
    for (let ms = 0; ms < 400; ms += READ_MS) {
      const other = connection.command(["GET", "other"], 100);
      await tick();
      writes.at(-1)?.[0]?.reply(null);
      await other;
      clock.advance(READ_MS);
    }
    await last;
  });

  test("sends the source once, however many ask before the first answer", async () => {
    const calls = [1, 2, 3].map(() => connection.script(SCRIPT, ["k"], [], 100));
    await tick();
    expect(writes[0]?.map((sent) => sent.command[0])).toEqual(["eval", "evalsha", "evalsha"]);
    for (const sent of writes[0] as Sent[]) sent.reply(1);
    await Promise.all(calls);
  });

  test("tells the server's refusals from the client's trouble [H50]", async () => {
    const refused = connection.command(["A"], 100);
    const broken = connection.command(["B"], 100);
    await tick();
    writes[0]?.[0]?.fail(new Error("OOM command not allowed when used memory > 'maxmemory'."));
    writes[0]?.[1]?.fail(new Error("Connection is closed."));
    await expect(refused).rejects.toMatchObject({ code: "SERVER_ERROR", serverCode: "OOM", passing: true });
    await expect(broken).rejects.toMatchObject({ code: "INDETERMINATE" });
  });

  test("takes a refusal after a break for one of a copy: the first may have been carried out [H50]", async () => {
    const call = connection.script(SCRIPT, ["k"], [], 100);
    await tick();
    breaks();
    // The client has sent it again, to a server that was restarted.
    writes[0]?.[0]?.fail(new Error("NOSCRIPT No matching script."));
    await tick();
    const later = connection.command(["A"], 100);
    await tick();
    for (const [sent] of writes.slice(1)) sent?.fail(new Error("NOPERM no permissions to run the command."));
    const refused = { code: "SERVER_ERROR", serverCode: "NOPERM" };
    await Promise.all([
      expect(call).rejects.toMatchObject({ code: "INDETERMINATE", cause: refused }),
      expect(later).rejects.toMatchObject(refused),
    ]);
  });

  test.each(["ERR Connection timed out", "ERR Connection reset by peer", "ERR upstream failure"])(
    "takes '%s', which a proxy says, for no answer",
    async (text) => {
      const call = connection.command(["A"], 100);
      await tick();
      writes[0]?.[0]?.fail(new Error(text));
      await expect(call).rejects.toMatchObject({ code: "INDETERMINATE" });
    },
  );

  test("sends a script whole at first, then by its sha, and whole again when it was forgotten", async () => {
    const run = async (answer: (sent: Sent) => void): Promise<unknown> => {
      const reply = connection.script(SCRIPT, ["k"], ["a"], 100);
      await tick();
      answer(writes.at(-1)?.[0] as Sent);
      return reply;
    };
    expect(await run((sent) => sent.reply(1))).toBe(1);
    expect(writes.at(-1)?.[0]?.command).toEqual(["eval", "return 1", "1", "k", "a"]);
    await run((sent) => sent.reply(1));
    expect(writes.at(-1)?.[0]?.command).toEqual(["evalsha", "sha-of-s", "1", "k", "a"]);
    const told: unknown[] = [];
    const note = (message: unknown): void => void told.push(message);
    subscribe("holdfast:server:forgot", note);
    const forgotten = run((sent) => sent.fail(new Error("NOSCRIPT No matching script.")));
    await tick();
    await tick();
    expect(writes.at(-1)?.[0]?.command[0]).toBe("eval");
    writes.at(-1)?.[0]?.reply(2);
    expect(await forgotten).toBe(2);
    unsubscribe("holdfast:server:forgot", note);
    expect(told).toEqual([{ what: "scripts" }]);
  });

  test.each([
    ["was rejected by the client", (sent: Sent) => sent.fail(new Error("Stream isn't writeable"))],
    ["was refused by the server", (sent: Sent) => sent.fail(new Error("LOADING the dataset"))],
    ["has no answer", () => clock.advance(100)],
  ])("sends a script as source again when its source %s", async (_, answer) => {
    const first = connection.script(SCRIPT, ["k"], ["a"], 100);
    await tick();
    answer(writes[0]?.[0] as Sent);
    await expect(first).rejects.toThrow();
    const second = connection.script(SCRIPT, ["k"], ["a"], 100);
    await tick();
    expect(writes[1]?.[0]?.command[0]).toBe("eval");
    writes[1]?.[0]?.reply(2);
    expect(await second).toBe(2);
  });

  test("takes an answer after a break for one of a copy, of a script that tells what its own run did", async () => {
    const [repeats, tells] = [SCRIPT, { ...SCRIPT, sha1: "another", tellsOwnRun: true }];
    const calls = [repeats, tells, tells].map((script) => connection.script(script, ["k"], [], 100));
    await tick();
    writes[0]?.[2]?.reply(3);
    expect(await calls[2]).toBe(3);
    breaks();
    for (const sent of writes[0] ?? []) sent.reply(0);
    expect(await calls[0]).toBe(0);
    await expect(calls[1]).rejects.toMatchObject({ code: "INDETERMINATE" });
    await tick();
    expect(clock.pendingTimers).toBe(0);
    const later = connection.script(tells, ["k"], [], 100);
    await tick();
    writes[1]?.[0]?.reply(2);
    expect(await later).toBe(2);
  });

  test("passes on what a connection for messages reports until it is closed, with errors of ours", async () => {
    const heard: string[] = [];
    const listener: MessageListener = {
      message: ({ kind }, text, channel) => heard.push(`${kind} ${channel} ${text}`),
      connected: () => heard.push("connected"),
      disconnected: (error) => heard.push(`lost ${error && (error as Error & { code: string }).code}`),
      outdated: () => heard.push("outdated"),
    };
    const messages = connection.openMessages(listener);
    const topic: Topic = { kind: "channel", name: "channel" };
    const report = (): void => {
      reporting?.connected();
      reporting?.message(topic, "text", "channel");
      reporting?.disconnected(null);
      reporting?.disconnected(new Error("NOPERM no"));
      reporting?.outdated();
    };
    report();
    await tick();
    expect(heard).toEqual([
      "connected",
      "channel channel text",
      "lost null",
      "lost SERVER_ERROR",
      "outdated",
    ]);
    expect(await messages.answers(topic, 100)).toBe(true);
    await messages.subscribe(topic);
    await messages.unsubscribe(topic);
    const refused = messages.subscribe({ kind: "pattern", name: "NOPERM no" });
    await expect(refused).rejects.toMatchObject({ code: "SERVER_ERROR", serverCode: "NOPERM" });
    const broken = messages.unsubscribe({ kind: "pattern", name: "broken" });
    await expect(broken).rejects.toMatchObject({ code: "INDETERMINATE" });
    messages.close();
    report();
    connection.openMessages(listener);
    await connection.close();
    report();
    await tick();
    expect(heard).toHaveLength(5);
  });

  test("sends calls of several slots in a write for each", async () => {
    client = { ...client, slotOf: slotOfKey };
    connection = new Connection(client, true, new Schedule(clock));
    const calls = [
      connection.command(["GET", "{a}1"], 100),
      connection.script(SCRIPT, ["{b}1", "{b}2"], ["arg"], 100),
      connection.command(["GET", "{a}2"], 100),
      connection.script(SCRIPT, [], [], 100),
    ];
    await tick();
    const named = writes.map((write) =>
      write.map(({ command }) => command.filter((word) => /^([A-Z]+$|eval|\{)/.test(word))),
    );
    expect(named.slice(0, 2)).toEqual([
      [
        ["GET", "{a}1"],
        ["GET", "{a}2"],
      ],
      [["eval", "{b}1", "{b}2"]],
    ]);
    for (const sent of writes.flat()) sent.reply("done");
    await Promise.all(calls);
  });

  test("after close, refuses calls and ends a client of its own", async () => {
    await connection.close();
    expect(closed).toBe(true);
    await expect(connection.command(["A"], 100)).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("after close, a connection for messages is none, and answers nothing", async () => {
    await connection.close();
    const listener = { message() {}, connected() {}, disconnected() {}, outdated() {} };
    const messages = connection.openMessages(listener);
    expect(reporting).toBeUndefined();
    const topic: Topic = { kind: "channel", name: "channel" };
    await expect(messages.subscribe(topic)).rejects.toMatchObject({ code: "CLOSED" });
    await messages.unsubscribe(topic);
    expect(await messages.answers(topic, 100)).toBe(false);
    messages.close();
  });
});

describe("what is given as a client", () => {
  const shape = (...names: string[]): object => Object.fromEntries(names.map((name) => [name, () => {}]));

  test("is known by its shape", () => {
    const ioredis = { ...shape("defineCommand", "call", "duplicate", "on"), options: {} };
    expect(detectClient(ioredis).library).toBe("ioredis");
    const nodeRedis = shape("sendCommand", "evalSha", "duplicate", "on");
    expect(detectClient(nodeRedis).library).toBe("node-redis");
  });

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["a number", 6379],
    ["a plain object", {}],
    ["a pipeline", shape("defineCommand", "call", "exec")],
    ["an ioredis cluster", { ...shape("defineCommand", "call", "duplicate", "on"), isCluster: true }],
    ["a node-redis cluster", { ...shape("sendCommand", "evalSha", "duplicate", "on"), slots: [] }],
    ["a node-redis sentinel", shape("sendCommand", "evalSha", "acquire", "duplicate", "on")],
    ["a node-redis pool", { ...shape("sendCommand", "evalSha", "duplicate", "on"), totalClients: 0 }],
    ["a GLIDE cluster", shape("customCommand", "invokeScript", "invokeScriptWithRoute")],
    ["a GLIDE client in a wrapper", shape("customCommand", "invokeScript")],
  ])("%s is refused with what to pass instead", (_what, client) => {
    expect(() => detectClient(client)).toThrow(expect.objectContaining({ code: "UNSUPPORTED_CLIENT" }));
    expect(() => detectClient(client)).toThrow(/ioredis.*node-redis.*URL/);
  });

  test.each([
    "",
    "localhost:6379",
    "http://localhost",
    "not a url",
    "unix:///tmp/redis.sock",
    "redis:localhost",
    "redis:///0",
    "redis://h\u00f6st",
    "redis://host:0",
    "redis://host:65536",
    "redis://host:-1",
    "redis://host/-1",
    "redis://host/1/2",
    "redis://host/1/",
    "redis://host/01",
    "redis://host/1.5",
    "redis://host/0x1",
    "redis://host/ 1",
    "redis://host/abc",
    "redis://host/99999999999",
    "redis://host/1?db=2",
    "redis://host?stringNumbers=true",
    "redis://host#1",
    "redis://user@host",
    "redis://:%zz@host",
    "redis://%ff:secret@host",
    "redis://user:12/34@host",
  ])("the URL %j is refused, without its password", (url) => {
    const refused = { code: "INVALID_ARGUMENT", argument: "url", message: expect.not.stringContaining("34") };
    for (const text of [url, url.replace("redis:", "rediss:")])
      expect(() => openClient(text)).toThrow(expect.objectContaining(refused));
  });

  test("a URL is read as it is written", () => {
    expect(parseRedisUrl("redis://localhost")).toEqual({
      tls: false,
      host: "localhost",
      port: 6379,
      username: null,
      password: null,
      database: 0,
    });
    expect(parseRedisUrl("rediss://us%3Aer:p%40ss@[::1]:7000/3")).toEqual({
      tls: true,
      host: "::1",
      port: 7000,
      username: "us:er",
      password: "p@ss",
      database: 3,
    });
    expect(parseRedisUrl("redis://:secret@host/")).toMatchObject({
      username: null,
      password: "secret",
      database: 0,
    });
  });
});
