/** The circuit breaker in virtual time, over a port that answers, refuses or is silent as the test says. */
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, describe, expect, test } from "vitest";
import { ClosedError, IndeterminateError, ServerError, UnavailableError } from "../../src/errors.ts";
import { BreakerPort } from "../../src/redis/breaker.ts";
import type { Reply } from "../../src/redis/port.ts";
import { Schedule } from "../../src/time/schedule.ts";
import { askThrough } from "../ask-through.js";

const TIMEOUT_MS = 300;

let clock: ManualClock;
let server: ScriptedPort;
let port: BreakerPort;

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Answers after no time, or ends every call after its time-out, as the real port does. */
class ScriptedPort {
  trouble: string | null = null;
  rejectsCalls = false;
  readonly writes = 0;
  readonly disruptions = 0;
  answer: "PONG" | "silence" | Error = "PONG";
  readonly sent: string[] = [];
  readonly ask = askThrough(this);
  readonly #schedule: Schedule;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  command([verb = ""]: readonly string[], timeoutMs: number): Promise<Reply> {
    this.sent.push(verb);
    const { answer } = this;
    if (answer instanceof Error) return Promise.reject(answer);
    if (answer === "PONG") return Promise.resolve(answer);
    return new Promise((_, reject) => {
      this.#schedule.after(timeoutMs, () =>
        reject(new IndeterminateError(`no answer within ${timeoutMs} ms`)),
      );
    });
  }

  script(): never {
    throw new Error("only commands are sent here");
  }

  readonly zeroListenersMeansGone = true;
  readonly reportsBreaks = true;

  unavailable(): UnavailableError | null {
    return this.trouble === null ? null : new UnavailableError(this.trouble);
  }

  slotOf(): number {
    return 0;
  }

  openMessages(): never {
    throw new Error("nothing is listened to here");
  }

  async close(): Promise<void> {}
}

beforeEach(() => {
  clock = new ManualClock();
  const schedule = new Schedule(clock);
  server = new ScriptedPort(schedule);
  port = new BreakerPort(server, schedule, TIMEOUT_MS);
});

/** What a call comes to, and after how long. */
async function call(timeoutMs = TIMEOUT_MS): Promise<{ told: unknown; tookMs: number }> {
  const sinceMs = clock.now().monoMs;
  let told: unknown;
  void port.command(["GET"], timeoutMs).then(
    (reply) => {
      told = reply;
    },
    (error) => {
      told = error.code;
    },
  );
  await settled();
  while (told === undefined) {
    clock.advance(1);
    await settled();
  }
  return { told, tookMs: clock.now().monoMs - sinceMs };
}

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    clock.advance(Math.min(50, ms - passed));
    await settled();
  }
}

describe("a Redis that is silent", () => {
  test.each([0, 50, 200, 1_000, 5_000])(
    "a process with a call every %i ms waits once, and never for a PING",
    async (everyMs) => {
      expect((await call()).told).toBe("PONG");
      server.answer = "silence";
      expect(await call()).toEqual({ told: "INDETERMINATE", tookMs: TIMEOUT_MS });
      for (let calls = 0; calls < 12; calls++) {
        await pass(everyMs);
        expect(await call()).toEqual({ told: "UNAVAILABLE", tookMs: 0 });
      }
      server.answer = "PONG";
      await pass(TIMEOUT_MS + 100);
      await call();
      expect(await call()).toEqual({ told: "PONG", tookMs: 0 });
    },
  );

  test("while calls keep coming the next PING follows the last, so the first call after Redis is back is served", async () => {
    await call();
    server.answer = "silence";
    await call();
    for (let calls = 0; calls < 10; calls++) {
      await pass(200);
      expect((await call()).told).toBe("UNAVAILABLE");
    }
    server.answer = "PONG";
    await pass(TIMEOUT_MS);
    expect(await call()).toEqual({ told: "PONG", tookMs: 0 });
  });

  test("without calls no PING is sent", async () => {
    server.answer = "silence";
    await call();
    await pass(5_000);
    expect(server.sent).toEqual(["GET", "PING"]);
  });

  test("a call that comes after more than ten seconds waits for its PING, and is served where Redis is back", async () => {
    server.answer = "silence";
    await call();
    await pass(11_000);
    expect(await call()).toEqual({ told: "UNAVAILABLE", tookMs: TIMEOUT_MS });
    server.answer = "PONG";
    await pass(11_000);
    expect(await call()).toEqual({ told: "PONG", tookMs: 0 });
  });

  test("one PING at a time, and at most ten in a second", async () => {
    server.answer = new IndeterminateError("the connection broke");
    await call();
    for (let ms = 0; ms < 1_000; ms += 10) {
      await call();
      await pass(10);
    }
    expect(server.sent.filter((verb) => verb === "PING").length).toBeLessThanOrEqual(11);
    server.answer = "silence";
    await pass(100);
    await call();
    const sent = server.sent.length;
    await pass(250);
    await call();
    expect(server.sent.length).toBe(sent);
  });

  test("a call with a longer time-out than the one that failed is sent", async () => {
    server.answer = "silence";
    expect((await call(10)).told).toBe("INDETERMINATE");
    expect((await call(10)).told).toBe("UNAVAILABLE");
    server.answer = "PONG";
    expect((await call(20)).told).toBe("PONG");
  });

  test("an answer to another call ends the outage, whatever becomes of the PING", async () => {
    server.answer = "silence";
    await call(10);
    server.answer = "PONG";
    await call(1_000);
    await pass(TIMEOUT_MS + 50); // the PING of the first call has timed out
    expect(await call(10)).toEqual({ told: "PONG", tookMs: 0 });
  });
});

describe("a client that is not connected", () => {
  test("a client that refuses calls while it connects is asked at once when it is connected", async () => {
    server.trouble = "connecting";
    server.answer = new Error("not connected, and no offline queue");
    expect((await call()).told).toBe("UNAVAILABLE");
    server.trouble = null;
    server.answer = "PONG";
    expect(await call()).toEqual({ told: "PONG", tookMs: 0 });
  });

  test("at first may have one PING to connect, for which all calls wait", async () => {
    server.trouble = "connecting";
    const calls = [port.command(["GET"], TIMEOUT_MS), port.command(["GET"], TIMEOUT_MS)];
    server.trouble = null;
    expect(await Promise.all(calls)).toEqual(["PONG", "PONG"]);
    expect(server.sent).toEqual(["PING", "GET", "GET"]);
  });

  test("is refused at once where it was closed, or nobody connects it", async () => {
    server.trouble = "nobody has connected the client";
    server.rejectsCalls = true;
    expect(await call()).toEqual({ told: "UNAVAILABLE", tookMs: 0 });
    expect(server.sent).toEqual([]);
  });

  test("later is sent nothing; the first call after it connected waits for a PING", async () => {
    await call();
    server.trouble = "reconnecting";
    expect(await call()).toEqual({ told: "UNAVAILABLE", tookMs: 0 });
    await pass(60_000);
    expect(await call()).toEqual({ told: "UNAVAILABLE", tookMs: 0 });
    expect(server.sent).toEqual(["GET"]);
    server.trouble = null;
    server.answer = "silence";
    expect(await call()).toEqual({ told: "UNAVAILABLE", tookMs: TIMEOUT_MS });
    expect(await call()).toEqual({ told: "UNAVAILABLE", tookMs: 0 });
    server.answer = "PONG";
    await pass(TIMEOUT_MS + 100);
    await call();
    expect((await call()).told).toBe("PONG");
  });
});

test("a server that refuses is there", async () => {
  server.answer = "silence";
  await call();
  await pass(TIMEOUT_MS);
  server.answer = new ServerError("NOPERM no PING");
  expect((await call()).told).toBe("UNAVAILABLE");
  expect((await call()).told).toBe("SERVER_ERROR");
});

test("what was closed says so, and not that Redis is away", async () => {
  server.answer = new ClosedError("a call to Redis came");
  server.trouble = "closed";
  expect((await call()).told).toBe("CLOSED");
});
