/** hf.once(): who runs, what the others get, and what becomes of errors, losses and results that cannot be stored. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { until } from "@holdfast/conformance";
import { expect, onTestFinished, test } from "vitest";
import {
  AcquireTimeoutError,
  ClosedError,
  type HoldfastEvents,
  type Lease,
  OnceFailedError,
  ResultNotStoredError,
  ServerError,
  StaleTokenError,
} from "../../src/index.js";
import { textOfValue } from "../../src/once/outcome.js";
import { checkOnce } from "../../src/once/settings.js";
import { place } from "./place.js";

const at = place();
const DAY = { keep: "1d" } as const;
const RECORD = "holdfast:{once:k}:record:once:k";

/** Work that says when it has begun, and goes on to `result` when it may. */
function slow<Value>(result: () => Value | Promise<Value>) {
  let [begin, end] = [(): void => {}, (): void => {}];
  const began = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const mayEnd = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work = async (): Promise<Value> => {
    begin();
    await mayEnd;
    return result();
  };
  return { work, began, end: () => end() };
}

/** Resolves when one process waits for the key while another runs. */
async function inLine(): Promise<void> {
  await until("it is in line", async () => (await at.redis.zcard("holdfast:{once:k}:line")) === 1);
}

async function serverNowMs(): Promise<number> {
  const [seconds, micros] = await at.redis.time();
  return Number(seconds) * 1_000 + Number(micros) / 1_000;
}

function told<Name extends keyof HoldfastEvents>(name: Name): HoldfastEvents[Name][] {
  const heard: HoldfastEvents[Name][] = [];
  const listener = (message: unknown): void => void heard.push(message as HoldfastEvents[Name]);
  subscribe(name, listener);
  onTestFinished(() => void unsubscribe(name, listener));
  return heard;
}

test("runs once, and answers everybody else, in this process and in others", async () => {
  const [one, other] = [at.open(), at.open()];
  let runs = 0;
  const work = (lease: Lease) => {
    runs += 1;
    lease.check();
    return { sum: 5, of: ["a", null] };
  };
  const [ran, skipped] = [told("holdfast:once:ran"), told("holdfast:once:skipped")];
  expect(await one.once("k", work, DAY)).toEqual({ ran: true, value: { sum: 5, of: ["a", null] } });
  for (const hf of [one, other]) {
    expect(await hf.once("k", work, DAY)).toEqual({ ran: false, value: { sum: 5, of: ["a", null] } });
  }
  expect(runs).toBe(1);
  expect(ran).toMatchObject([{ key: "k", keepMs: 86_400_000 }]);
  expect(skipped).toMatchObject([{ key: "k" }, { key: "k" }]);
  const left = await at.redis.pttl(RECORD);
  expect(left).toBeGreaterThan(86_390_000);
  expect(left).toBeLessThanOrEqual(86_400_000);
  expect(await at.redis.hget(RECORD, "value")).toBe('j{"outcome":"value","value":{"sum":5,"of":["a",null]}}');
});

test.each([
  ["nothing", undefined],
  ["null", null],
  ["text", "x"],
  ["bytes", new Uint8Array([0, 255, 7])],
])("%s is a result", async (_, value) => {
  const [one, other] = [at.open(), at.open()];
  expect(await one.once("k", () => value, DAY)).toEqual({ ran: true, value });
  expect(await other.once("k", () => value, DAY)).toEqual({ ran: false, value });
});

test("a hundred who wait are answered without a turn each, and none of them gets another's object", async () => {
  const [one, other] = [at.open(), at.open()];
  const { work, began, end } = slow(() => ({ n: 1 }));
  const first = one.once("k", work, DAY);
  await began;
  const acquired = told("holdfast:lock:acquired");
  const never = () => expect.fail("ran again");
  const waiting = [one, other].flatMap((hf) => Array.from({ length: 50 }, () => hf.once("k", never, DAY)));
  await inLine();
  end();
  const answers = await Promise.all(waiting);
  expect(await first).toEqual({ ran: true, value: { n: 1 } });
  expect(answers).toEqual(waiting.map(() => ({ ran: false, value: { n: 1 } })));
  expect(new Set(answers.map(({ value }) => value)).size).toBe(100);
  // The one that the run held, and hand-overs that came before the message: more on a busy machine, and never one each.
  expect(acquired.length).toBeLessThan(waiting.length / 2);
});

test("after an error the next one in line runs, and nothing is stored", async () => {
  const [one, other] = [at.open(), at.open()];
  const fail = new TypeError("no paper");
  const failed = told("holdfast:once:failed");
  const { work, began, end } = slow(() => Promise.reject(fail));
  const first = one.once("k", work, DAY);
  await began;
  const second = other.once("k", () => "done", DAY);
  await inLine();
  end();
  await expect(first).rejects.toBe(fail);
  expect(await second).toEqual({ ran: true, value: "done" });
  expect(failed).toMatchObject([{ key: "k", error: fail, stored: false }]);
});

test("an error is the outcome for the others when errors are stored, until it is forgotten", async () => {
  const [one, other] = [at.open(), at.open()];
  const fail = Object.assign(new TypeError("no paper"), { code: "E_PAPER" });
  const settings = { ...DAY, errors: "store" } as const;
  await expect(one.once("k", () => Promise.reject(fail), settings)).rejects.toBe(fail);
  for (const hf of [one, other]) {
    const error = await hf.once("k", () => "again", DAY).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(OnceFailedError);
    expect(error).toMatchObject({
      key: "k",
      failure: { name: "TypeError", message: "no paper", code: "E_PAPER" },
      message: expect.stringMatching(/'k' failed \(TypeError: no paper\): .*once\.forget/),
    });
  }
  expect([await one.once.forget("k"), await other.once.forget("k")]).toEqual([true, false]);
  expect(await other.once("k", () => "again", DAY)).toEqual({ ran: true, value: "again" });
});

test.each([
  ["text", "text"],
  ["an object without a prototype", Object.create(null)],
  ["a lone surrogate", new Error("\ud800")],
  ["nothing", undefined],
  [
    "an error whose message throws",
    Object.defineProperty(new Error(), "message", {
      get() {
        throw new Error("no message");
      },
    }),
  ],
])("%s can be thrown, and stored", async (_, thrown) => {
  const hf = at.open();
  await expect(
    hf.once("k", () => Promise.reject(thrown), { ...DAY, errors: "store" }).catch((error) => error),
  ).resolves.toBe(thrown);
  await expect(hf.once("k", () => 1, DAY)).rejects.toBeInstanceOf(OnceFailedError);
});

test.each([
  ["a date", new Date(0)],
  ["a function", () => 1],
  ["more than 1 MiB", "x".repeat(1_048_577)],
])("work that returns %s has run, and says so to its caller and to others", async (_, value) => {
  const [one, other] = [at.open(), at.open()];
  const error = await one.once("k", () => value, DAY).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ResultNotStoredError);
  expect(error).toMatchObject({ key: "k", reason: "unstorable", value, cause: { code: "INVALID_ARGUMENT" } });
  const others = other.once("k", () => expect.fail("ran again"), DAY);
  await expect(others).rejects.toThrow(/'k' ran, but it returned a result that cannot be stored/);
});

test("a run that was overtaken cannot store, and is told so", async () => {
  const [one, other] = [at.open(), at.open()];
  const { work, began, end } = slow(() => "late");
  const late = one.once("k", work, { ...DAY, ttl: 500 });
  await began;
  await at.redis.del("holdfast:{once:k}:lock");
  const next = await other.once("k", (lease) => String(lease.fence), { ...DAY, wait: 0 });
  end();
  const error = await late.catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ResultNotStoredError);
  expect(error).toMatchObject({ reason: "overtaken", value: "late", cause: expect.any(StaleTokenError) });
  expect(error.message).toMatch(/another process took over while it ran/);
  expect(BigInt(next.value)).toBeGreaterThan(error.fence);
  expect(await one.once("k", () => "again", DAY)).toEqual({ ran: false, value: next.value });
});

test("a lease that was lost while nobody took over stores its result all the same", async () => {
  const hf = at.open();
  const { value } = await hf.once(
    "k",
    async (lease) => {
      await at.redis.del("holdfast:{once:k}:lock");
      if (!lease.signal.aborted) await new Promise((lost) => lease.signal.addEventListener("abort", lost));
      return lease.valid;
    },
    { ...DAY, ttl: 300 },
  );
  expect(value).toBe(false);
  expect(await hf.once("k", () => "again", DAY)).toEqual({ ran: false, value: false });
});

test("the error of work that was stopped is not stored", async () => {
  const [hf, stop] = [at.open(), new AbortController()];
  const stopped = (): never => {
    stop.abort();
    throw new Error("stopped");
  };
  const settings = { ...DAY, errors: "store", signal: stop.signal } as const;
  await expect(hf.once("k", stopped, settings)).rejects.toThrow("stopped");
  const lost = async (): Promise<never> => {
    await hf.close();
    throw new Error("closed");
  };
  await expect(hf.once("k", lost, { ...DAY, errors: "store" })).rejects.toThrow("closed");
  expect(await at.open().once("k", () => 1, DAY)).toEqual({ ran: true, value: 1 });
});

test("a key is done until its keep is over, by the server's clock, counted from the end", async () => {
  const hf = at.open();
  const beganMs = await serverNowMs();
  let endedMs = 0;
  const work = async (): Promise<number> => {
    await until("it takes a while", async () => (await serverNowMs()) > beganMs + 20);
    endedMs = await serverNowMs();
    return 1;
  };
  expect(await hf.once("k", work, DAY)).toEqual({ ran: true, value: 1 });
  expect(Number(await at.redis.call("PEXPIRETIME", RECORD))).toBeGreaterThanOrEqual(endedMs + 86_400_000 - 1);
  expect(await hf.once("k", () => 2, DAY)).toEqual({ ran: false, value: 1 });
  await hf.once("k1", () => 1, { keep: 50 });
  await until("it runs again", async () => (await hf.once("k1", () => 3, DAY)).ran);
  await hf.once("k2", () => 1, { keep: Number.POSITIVE_INFINITY });
  expect(await at.redis.pttl("holdfast:{once:k2}:record:once:k2")).toBe(-1);
});

test("forget() works on a full server", async () => {
  const hf = at.open();
  await hf.once("k", () => 1, DAY);
  await at.redis.config("SET", "maxmemory", "1");
  try {
    expect(await hf.once.forget("k")).toBe(true);
  } finally {
    await at.redis.config("SET", "maxmemory", "0");
  }
});

test("a wait ends by its time, its signal and close(), and the work does not begin", async () => {
  const [one, other] = [at.open(), at.open()];
  const { work, began, end } = slow(() => undefined);
  const first = one.once("k", work, DAY);
  await began;
  const never = () => expect.fail("ran");
  const stop = new AbortController();
  const busy = await other.once("k", never, { ...DAY, wait: 0 }).catch((thrown) => thrown);
  expect(busy).toBeInstanceOf(AcquireTimeoutError);
  expect(busy).toMatchObject({ lock: "once:k", owner: { pid: process.pid } });
  expect(busy.message).toMatch(/^another caller \(.*pid \d+ on .*\) still runs 'k' after 0 ms: wait longer/);
  const later = await other.once("k", never, { ...DAY, wait: 300 }).catch((thrown) => thrown);
  expect(later).toMatchObject({ code: "ACQUIRE_TIMEOUT", lock: "once:k", waitMs: 300 });
  const inside = await one.once("k", never, { ...DAY, wait: 0 }).catch((thrown) => thrown);
  expect(inside).toMatchObject({ isOwn: true, message: expect.stringContaining("waits for itself") });
  const aborted = other.once("k", never, { ...DAY, signal: stop.signal });
  const closed = other.once("k", never, { ...DAY, wait: Number.POSITIVE_INFINITY });
  const settled = Promise.allSettled([aborted, closed]);
  await inLine();
  stop.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  await other.close();
  expect((await settled)[1]).toMatchObject({ reason: expect.any(ClosedError) });
  end();
  expect(await first).toEqual({ ran: true, value: undefined });
});

test("a wait is one hour where nothing is said: far longer than the ttl, so whoever waits takes over from the dead", () => {
  const { waitMs, ttlMs } = checkOnce("holdfast", "k", DAY);
  expect([waitMs, ttlMs]).toEqual([3_600_000, 30_000]);
  expect(checkOnce("holdfast", "k", { ...DAY, wait: "5s" }).waitMs).toBe(5_000);
});

test.each([
  [{ at: new Date(0) }, "result must be JSON or bytes: result.at is an object of class Date"],
  [new Map(), "result must be JSON or bytes: result is an object of class Map"],
  [{ rows: [{ name: undefined }] }, "result must be JSON or bytes: result.rows[0].name is undefined"],
  ["x".repeat(1_048_576), "result must have at most 1 MiB"],
])("a result that cannot be stored is refused with its place in it", (value, message) => {
  expect(() => textOfValue(value)).toThrow(message);
});

test("a signal that aborts while the lock is asked for ends the call before the work", async () => {
  const [hf, stop] = [at.open(), new AbortController()];
  const call = hf.once("k", () => expect.fail("ran"), { ...DAY, signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");
  expect(await hf.once("k", () => 1, DAY)).toEqual({ ran: true, value: 1 });
});

test("nothing is left for good of a key whose work failed, whatever its keep", async () => {
  const hf = at.open();
  const failed = hf.once("k", () => Promise.reject(new Error("no")), { keep: Number.POSITIVE_INFINITY });
  await expect(failed).rejects.toThrow("no");
  for (const key of await at.redis.keys("*")) expect(await at.redis.pttl(key)).toBeGreaterThan(0);
});

test("work does not begin under a lease that ended while its process stood still", async () => {
  const hf = at.open();
  const stall = (): void => {
    unsubscribe("holdfast:lock:acquired", stall);
    // The next look at the record is on its way then, and its answer comes after the lease.
    setImmediate(() => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400));
  };
  subscribe("holdfast:lock:acquired", stall);
  const work = (lease: Lease) => lease.valid;
  expect(await hf.once("k", work, { ...DAY, ttl: 300 })).toEqual({ ran: true, value: true });
});

test("work that asks for its own key is told so, and one that does not wait is told who runs it", async () => {
  const hf = at.open();
  const within = (wait: number) => hf.once("k", () => hf.once("k", () => 1, { ...DAY, wait }), DAY);
  await expect(within(30)).rejects.toThrow(/^the wait for 'once:k' can never end.*: call the work itself/);
  await expect(within(0)).rejects.toThrow(/^this process still runs 'k' after 0 ms \(a call from inside/);
  expect(await hf.once("k", () => 2, DAY)).toEqual({ ran: true, value: 2 });
});

test("close() during a run leaves the result unstored, and says so", async () => {
  const hf = at.open();
  const work = async (): Promise<string> => {
    await hf.close();
    return "done";
  };
  const error = await hf.once("k", work, DAY).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "RESULT_NOT_STORED", reason: "refused", value: "done" });
  expect(error.cause).toBeInstanceOf(ClosedError);
});

test("a record that somebody else has written is not taken for an outcome", async () => {
  const hf = at.open();
  await hf.record("once:k").put({ outcome: "odd" });
  await expect(hf.once("k", () => 1, DAY)).rejects.toThrow(
    /WRONGTYPE another program owns the key holdfast:\{once:k\}:record/,
  );
  await at.redis.set("holdfast:{once:k3}:record:once:k3", "odd");
  await expect(hf.once("k3", () => 1, DAY)).rejects.toBeInstanceOf(ServerError);
});

test("arguments are checked before anything is sent", async () => {
  const hf = at.open();
  const bad = async (key: unknown, work: unknown, options: unknown): Promise<string> =>
    hf.once(key as string, work as () => void, options as typeof DAY).then(
      () => "passed",
      (error) => error.argument,
    );
  const work = () => 1;
  expect(await bad("", work, DAY)).toBe("key");
  expect(await bad("x".repeat(508), work, DAY)).toBe("key");
  expect(await bad("x}:record:y", work, DAY)).toBe("key");
  expect(await bad("k", 5, DAY)).toBe("work");
  expect(await bad("k", work, undefined)).toBe("keep");
  expect(await bad("k", work, "1d")).toBe("options");
  expect(await bad("k", work, {})).toBe("keep");
  expect(await bad("k", work, { keep: "1d", errors: "throw" })).toBe("errors");
  expect(await bad("k", work, { keep: 0 })).toBe("keep");
  expect(await bad("k", work, { keep: "1d", ttl: 50 })).toBe("ttl");
  expect(await bad("k", work, { keep: "1d", wait: -1 })).toBe("wait");
  expect(await bad("k", work, { keep: "1d", maxHold: 5 })).toBe("maxHold");
  expect(await at.redis.dbsize()).toBe(0);
});
