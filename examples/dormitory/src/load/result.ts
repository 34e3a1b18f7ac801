/** From what the students heard and the data shows to the figures of the table. */
import type { Way } from "../domain/batch.js";
import { countsOf, type Difference, type DifferenceKind } from "../domain/upkeep.js";
import type { Killed } from "./kills.js";
import type { Heard } from "./student.js";

export interface LatencyMs {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface WayResult {
  readonly way: Way;
  /** All requests between the start and the last result. */
  readonly requestsPerSecond: number;
  /** From the click until the result. */
  readonly latencyMs: LatencyMs;
  readonly retries: number;
  readonly bedsGivenTwice: number;
  readonly studentsWithTwoRooms: number;
  readonly teamsTornApart: number;
  readonly answersLost: number;
  /** Records that contradict each other, wrong counts, rooms of other batches. */
  readonly otherDifferences: number;
  readonly withRoom: number;
  readonly withoutRoom: number;
  readonly killed: readonly Killed[];
}

/** What the pictures are drawn from. */
export interface WayTrace {
  /** When each student had a result, in order, from the start on. */
  readonly decidedAtMs: readonly number[];
  /** In order. */
  readonly latenciesMs: readonly number[];
  /** Students by the place of their room among their wishes; the last entry is those without a room. */
  readonly byWish: readonly number[];
}

export interface WayOutcome {
  readonly result: WayResult;
  readonly trace: WayTrace;
  readonly differences: readonly Difference[];
}

export interface WayFacts {
  readonly way: Way;
  readonly heard: readonly Heard[];
  readonly durationMs: number;
  readonly requests: number;
  readonly retries: number;
  readonly killed: readonly Killed[];
  readonly differences: readonly Difference[];
}

export function outcomeOf(facts: WayFacts): WayOutcome {
  const { heard, durationMs, differences } = facts;
  const counts = countsOf(differences);
  const latencies = heard.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b);
  const total = (...kinds: readonly DifferenceKind[]): number =>
    kinds.reduce((sum, kind) => sum + counts[kind], 0);
  const withRoom = heard.filter(({ roomId }) => roomId !== null).length;
  const result: WayResult = {
    way: facts.way,
    requestsPerSecond: rounded(durationMs > 0 ? (facts.requests * 1_000) / durationMs : 0),
    latencyMs: {
      p50: rounded(percentile(latencies, 0.5)),
      p99: rounded(percentile(latencies, 0.99)),
      max: rounded(latencies.at(-1) ?? 0),
    },
    retries: facts.retries,
    bedsGivenTwice: total("bed-given-twice", "room-over-capacity"),
    studentsWithTwoRooms: total("student-with-two-rooms", "student-with-two-beds"),
    teamsTornApart: total("team-torn-apart"),
    answersLost: total("answer-lost"),
    otherDifferences: total("one-sided", "wrong-room", "wrong-team", "wrong-count"),
    withRoom,
    withoutRoom: heard.length - withRoom,
    killed: facts.killed,
  };
  return { result, trace: traceOf(heard, latencies), differences };
}

/** The four figures that must be 0, and the differences that belong to none of them. */
export function isWhole({ result }: WayOutcome): boolean {
  const { bedsGivenTwice, studentsWithTwoRooms, teamsTornApart, answersLost, otherDifferences } = result;
  return bedsGivenTwice + studentsWithTwoRooms + teamsTornApart + answersLost + otherDifferences === 0;
}

/** Wishes have at most this many places. */
export const WISH_PLACES = 5;

function traceOf(heard: readonly Heard[], latenciesMs: readonly number[]): WayTrace {
  const byWish = Array.from({ length: WISH_PLACES + 2 }, () => 0);
  for (const { roomId, wishes } of heard) {
    const place = roomId === null ? -1 : wishes.indexOf(roomId);
    const column =
      roomId === null ? WISH_PLACES + 1 : place < 0 ? WISH_PLACES : Math.min(place, WISH_PLACES - 1);
    byWish[column] = (byWish[column] ?? 0) + 1;
  }
  return {
    decidedAtMs: heard.map(({ decidedAtMs }) => decidedAtMs).sort((a, b) => a - b),
    latenciesMs,
    byWish,
  };
}

/** Nearest rank: a latency that some student really had. 0 of none. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

function rounded(number: number): number {
  return Number(number.toFixed(1));
}
