/** Calls while the client is not connected: they wait in the port, and one PING in the client; with a client the test plays. */
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, describe, expect, test } from "vitest";
import { type ClientTrouble, oneServer } from "../../src/redis/client.js";
import { Connection } from "../../src/redis/connection.js";
import { Schedule } from "../../src/time/schedule.js";

interface Sent {
  readonly command: readonly string[];
  readonly reply: (value: unknown) => void;
  readonly fail: (error: Error) => void;
}

let clock: ManualClock;
let writes: Sent[][];
let connection: Connection;
let trouble: ClientTrouble | null;

beforeEach(() => {
  clock = new ManualClock();
  writes = [];
  const client = {
    ...oneServer,
    library: "ioredis" as const,
    address: null,
    send(commands: readonly (readonly string[])[]) {
      const batch: Sent[] = [];
      writes.push(batch);
      return commands.map(
        (command) => new Promise((reply, fail) => void batch.push({ command, reply, fail })),
      );
    },
    openMessages(): never {
      throw new Error("nothing is listened to here");
    },
    onDisruption: () => () => {},
    trouble: () => trouble,
    close() {},
  };
  connection = new Connection(client, true, new Schedule(clock));
});

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a client that is not connected", () => {
  const cause = new Error("connect ECONNREFUSED 127.0.0.1:1");
  const connecting: ClientTrouble = { text: "ioredis is not connected: connecting", cause, rejects: false };
  const names = (): unknown[] => writes.map((write) => write.map(({ command }) => command[0]));

  /** The warnings of the process that come until the next turn of the event loop. */
  async function warningsOf(work: () => Promise<unknown>): Promise<unknown[]> {
    const codes: unknown[] = [];
    const onWarning = (warning: Error & { code?: string }): void => void codes.push(warning.code);
    process.on("warning", onWarning);
    await work();
    await tick();
    process.off("warning", onWarning);
    return codes;
  }

  beforeEach(() => {
    trouble = connecting;
  });

  test("gets one PING in place of all calls, and the calls in their order when it has answered", async () => {
    const calls = [connection.command(["A"], 100), connection.command(["B"], 100)];
    await tick();
    calls.push(connection.command(["C"], 100));
    await tick();
    expect(names()).toEqual([["PING"]]);
    expect(connection.writes).toBe(0);
    trouble = null;
    writes[0]?.[0]?.reply("PONG");
    await tick();
    expect(names()).toEqual([["PING"], ["A", "B", "C"]]);
    for (const sent of writes[1] as Sent[]) sent.reply(sent.command[0]);
    expect(await Promise.all(calls)).toEqual(["A", "B", "C"]);
    await tick();
    clock.advance(1_000);
    expect([clock.pendingTimers, connection.writes]).toEqual([0, 1]);
  });

  test("a call whose time is up was not sent, never will be, and says what cannot be reached", async () => {
    const call = connection.command(["GET", "k"], 100);
    await tick();
    clock.advance(100);
    await expect(call).rejects.toMatchObject({
      code: "UNAVAILABLE",
      passing: true,
      cause,
      message: expect.stringMatching(
        /^no Redis at .+ \(connect ECONNREFUSED 127.0.0.1:1\): nothing was sent; /,
      ),
    });
    trouble = null;
    writes[0]?.[0]?.reply("PONG");
    await tick();
    expect(names()).toEqual([["PING"]]);
  });

  test("a call that was sent before the connection broke is unknown", async () => {
    trouble = null;
    const call = connection.command(["GET", "k"], 100);
    await tick();
    trouble = connecting;
    clock.advance(100);
    await expect(call).rejects.toMatchObject({ code: "INDETERMINATE", cause });
  });

  test("a call that comes when it is connected again goes behind those that wait", async () => {
    const calls = [connection.command(["A"], 100)];
    await tick();
    trouble = null;
    calls.push(connection.command(["B"], 100));
    await tick();
    expect(names()).toEqual([["PING"], ["A"], ["B"]]);
    for (const [sent] of writes.slice(1)) sent?.reply("OK");
    await Promise.all(calls);
  });

  test("when it rejects the PING, the calls that wait are told so, in the server's words where it has any", async () => {
    const calls = [connection.command(["A"], 100), connection.command(["B"], 100)];
    await tick();
    writes[0]?.[0]?.fail(new Error("Reached the max retries per request limit"));
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "UNAVAILABLE", cause });
    const refused = connection.command(["A"], 100);
    await tick();
    writes[1]?.[0]?.fail(new Error("WRONGPASS invalid username-password pair"));
    await expect(refused).rejects.toMatchObject({ code: "SERVER_ERROR", serverCode: "WRONGPASS" });
    const served = connection.command(["A"], 100);
    await tick();
    trouble = null;
    writes[2]?.[0]?.fail(new Error("NOPERM this user has no permissions to run the 'ping' command"));
    await tick();
    writes[3]?.[0]?.reply("served");
    expect(await served).toBe("served");
  });

  test("the process is warned once, and only when it never connected", async () => {
    const warnings = await warningsOf(async () => {
      const calls = [1, 2].map(() => connection.command(["A"], 5_000));
      await tick();
      clock.advance(499);
      await tick();
      clock.advance(501);
      calls.push(connection.command(["A"], 5_000));
      await tick();
      clock.advance(9_000);
      await Promise.allSettled(calls);
    });
    expect(warnings).toEqual(["HOLDFAST_UNREACHABLE"]);
  });

  test("one that connects soon, or was connected before, is worth no warning", async () => {
    const warnings = await warningsOf(async () => {
      const call = connection.command(["A"], 5_000);
      await tick();
      clock.advance(499);
      trouble = null;
      writes[0]?.[0]?.reply("PONG");
      await tick();
      writes[1]?.[0]?.reply("OK");
      await call;
      await tick();
      expect(clock.pendingTimers).toBe(0);
      trouble = connecting;
      const later = connection.command(["A"], 5_000);
      await tick();
      clock.advance(5_000);
      await expect(later).rejects.toMatchObject({ code: "UNAVAILABLE" });
    });
    expect(warnings).toEqual([]);
  });

  test("one that rejects every call is sent nothing: its calls fail at once, for good, with a warning", async () => {
    trouble = { text: "the ioredis client is closed", cause: null, rejects: true };
    const warnings = await warningsOf(async () => {
      for (const name of ["A", "B"]) {
        const told = {
          code: "UNAVAILABLE",
          passing: false,
          message: expect.stringContaining("is closed: nothing"),
        };
        await expect(connection.command([name], 5_000)).rejects.toMatchObject(told);
      }
    });
    expect([warnings, writes, clock.pendingTimers]).toEqual([["HOLDFAST_UNREACHABLE"], [], 0]);
  });

  test("close() ends the calls that wait", async () => {
    const call = connection.command(["A"], 5_000);
    await tick();
    await connection.close();
    await expect(call).rejects.toMatchObject({ code: "CLOSED" });
    await tick();
    expect(clock.pendingTimers).toBe(0);
  });
});
