/** Measures how far the server's clock is ahead of this process's clock, with bounds. */
import type { RedisPort } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import type { Clock } from "../time/clock.js";
import type { Finding } from "./report.js";

export interface ClockReading {
  readonly offsetMs: number;
  readonly uncertaintyMs: number;
  readonly roundTripMs: number;
}

const SAMPLES = 9;
/** A wall clock that shows whole milliseconds may be ahead of what it shows by this. */
const WALL_STEP_MS = 1;
const LARGEST_OFFSET_MS = 1_000;
/** A round trip that takes a larger share of a call's time-out is a finding. */
const SLOW_SHARE = 1 / 4;

/**
 * The server read its clock at some moment between sending and receiving, so each sample bounds the
 * offset from both sides, and all bounds together are tighter than half of the shortest round trip.
 *
 * @throws {ServerError} @throws {IndeterminateError}
 */
export async function readClock(port: RedisPort, clock: Clock, timeoutMs: number): Promise<ClockReading> {
  const samples: { lowMs: number; highMs: number; tookMs: number }[] = [];
  for (let count = 0; count < SAMPLES; count++) {
    const sent = clock.now();
    const [seconds, micros] = replyRow(await port.command(["TIME"], timeoutMs), 2);
    const received = clock.now();
    const serverMs = Number(seconds) * 1_000 + Number(micros) / 1_000;
    samples.push({
      lowMs: serverMs - received.wallMs - WALL_STEP_MS,
      highMs: serverMs - sent.wallMs,
      tookMs: received.monoMs - sent.monoMs,
    });
  }
  samples.sort((one, other) => one.tookMs - other.tookMs);
  let lowMs = Math.max(...samples.map((sample) => sample.lowMs));
  let highMs = Math.min(...samples.map((sample) => sample.highMs));
  // One of the clocks was set meanwhile: no offset fits all samples, the quickest one counts.
  if (lowMs > highMs) ({ lowMs, highMs } = samples[0] as { lowMs: number; highMs: number });
  const roundTripMs = samples[Math.floor(SAMPLES / 2)]?.tookMs as number;
  return { offsetMs: (lowMs + highMs) / 2, uncertaintyMs: (highMs - lowMs) / 2, roundTripMs };
}

export function checkClock(reading: ClockReading, callTimeoutMs: number): Finding[] {
  const { offsetMs, uncertaintyMs, roundTripMs } = reading;
  const findings: Finding[] = [];
  if (Math.abs(offsetMs) - uncertaintyMs > LARGEST_OFFSET_MS) {
    findings.push({
      code: "clock",
      severity: "warning",
      found: `the server's clock is ${describeMs(Math.abs(offsetMs))} ${offsetMs > 0 ? "ahead of" : "behind"} this process's, give or take ${describeMs(uncertaintyMs)}`,
      consequence:
        "Leases do not depend on it. Owner records show the server's time, and fencing tokens come from it: " +
        "a server with another clock that takes over may mint smaller ones.",
      remedy: "Keep the clocks of all machines in step with NTP; find out which of the two is wrong.",
    });
  }
  if (roundTripMs > callTimeoutMs * SLOW_SHARE) {
    findings.push({
      code: "latency",
      severity: "warning",
      found: `a call takes ${describeMs(roundTripMs)}, and ends unanswered after ${callTimeoutMs} ms (callTimeout)`,
      consequence: "A short delay more, and calls end as unknown although the server carries them out.",
      remedy:
        "Raise callTimeout, and use a ttl of at least thirty round trips; or move closer to the server.",
    });
  }
  return findings;
}

function describeMs(ms: number): string {
  if (ms >= 10_000) return `${Math.round(ms / 1_000)} s`;
  return `${ms >= 10 ? Math.round(ms) : ms.toFixed(1)} ms`;
}
