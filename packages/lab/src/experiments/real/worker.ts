/**
 * A process that pays into an account under a lock, for D1 with real processes: by SET NX PX, or with holdfast. It
 * tells its parent what it does, as lines of JSON; times are of CLOCK_MONOTONIC.
 */
import { writeSync } from "node:fs";
import { Holdfast, LeaseLostError, StaleTokenError } from "holdfast";
import { Redis } from "ioredis";
import { monoMs, pauseMs } from "../../chaos/time.js";
import type { WorkerEvent, WorkerTask } from "./task.js";

const task: WorkerTask = JSON.parse(process.argv[2] ?? "{}");
const { side, url, name, ttlMs, amount } = task;
const key = `${side}:lock`;
const account = `${side}:balance`;

/** Between the last look at the lease and the write, until the parent lets it go on. No clock tells when it happens. */
function stop(): void {
  if (task.stops) process.kill(process.pid, "SIGSTOP");
}

/** At once, whatever happens to this process next. */
function say(event: WorkerEvent["event"], more: Partial<WorkerEvent> = {}): void {
  writeSync(1, `${JSON.stringify({ event, atMs: monoMs(), ...more })}\n`);
}

async function payNaively(redis: Redis): Promise<void> {
  say("asks");
  while ((await redis.set(key, name, "PX", ttlMs, "NX")) !== "OK") await pauseMs(50);
  say("granted");
  const balance = Number(await redis.get(account));
  say("read", { value: balance });
  say("checked");
  stop();
  await redis.set(account, balance + amount);
  say("written", { value: balance + amount });
  const script =
    'if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0';
  const isMine = (await redis.eval(script, 1, key, name)) === 1;
  say("released", { result: isMine ? "released" : "it is not mine" });
}

async function payWithHoldfast(redis: Redis): Promise<void> {
  const hf = new Holdfast(redis, { label: name });
  say("asks");
  const lease = await hf.mutex(key, { ttl: ttlMs }).acquire({ wait: 30_000 });
  const token = String(lease.fence);
  say("granted", { token, validUntilMs: monoMs() + lease.remainingMs });
  lease.signal.addEventListener("abort", () => {
    say("lost", { result: lease.signal.reason instanceof LeaseLostError ? lease.signal.reason.reason : "" });
  });
  const record = hf.record<number>(account);
  const balance = (await record.get({ fence: lease }))?.value ?? 0;
  say("read", { value: balance, token });
  lease.check();
  say("checked", { validUntilMs: monoMs() + lease.remainingMs });
  stop();
  try {
    await record.put(balance + amount, { fence: lease });
    say("written", { value: balance + amount, token });
  } catch (error) {
    if (!(error instanceof StaleTokenError)) throw error;
    say("refused", { value: balance + amount, token, seen: String(error.seen) });
  }
  say("released", { result: await lease.release() });
  await hf.close();
}

const redis = new Redis(url);
await (side === "naive" ? payNaively(redis) : payWithHoldfast(redis));
redis.disconnect();
