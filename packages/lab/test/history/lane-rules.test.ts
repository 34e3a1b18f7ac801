/** The rules of lanes, on histories that keep them and that break them. */
import { expect, test } from "vitest";
import { checkLanes, type LaneFacts } from "../../src/history/lane-rules.ts";
import type { Operation } from "../../src/history/operation.ts";

const never = (): boolean => false;
const facts: LaneFacts = {
  ...{ endMs: 10_000, maxAttempts: 3, wasLost: never, wasClockSet: never },
  ...{ inFlight: 1, whenFailed: "park", rate: null, isSteady: true },
};
let seq = 0;

function operation(f: string, invMs: number, value: unknown, more: Partial<Operation> = {}): Operation {
  return { process: "p", seq: seq++, f, key: "orders", invMs, retMs: invMs + 10, type: "ok", value, ...more };
}

const push = (invMs: number, ids: readonly string[], more: object = {}, mark?: number): Operation =>
  operation(
    "push",
    invMs,
    { messages: ids.map((id) => ({ body: `body ${id}`, id, isNew: true })), ...more },
    mark === undefined ? {} : { serverUs: mark },
  );
const deliver = (invMs: number, id: string, token: bigint, attempt = 1): Operation =>
  operation("deliver", invMs, { id, body: `body ${id}`, attempt }, { token });
const ack = (invMs: number, id: string, token: bigint, more: Partial<Operation> = {}): Operation =>
  operation("ack", invMs, { id, result: `by ${token}` }, { token, ...more });

const laneRulesOf = (history: Operation[], more: Partial<LaneFacts> = {}): string[] =>
  checkLanes(history, { ...facts, ...more }).map(({ property }) => property);

const inLane = push(0, ["11@a", "12@a", "11@b"], {}, 12);
const acked = (id: string): Operation => ack(500, id, 99n, { type: "info" });
const ends = [acked("11@a"), acked("12@a"), acked("11@b")];

test("each lane in its order passes, with a retry in its place", () => {
  const turns = [
    deliver(20, "11@a", 13n),
    deliver(30, "11@b", 14n),
    deliver(40, "11@a", 15n, 2),
    deliver(50, "12@a", 16n),
  ];
  expect(laneRulesOf([inLane, ...turns, ...ends])).toEqual([]);
});

test("N9: two deliveries of a lane at once are found where its rate allows one, and no two of two lanes", () => {
  const rate = { max: 1, perMs: 100 };
  const one = push(0, ["11@a", "12@a", "11@b"], {}, 12);
  const quick = [deliver(20, "11@a", 20_000n), deliver(80, "11@b", 80_000n), deliver(90, "12@a", 90_000n)];
  expect(laneRulesOf([one, ...quick, ...ends], { rate })).toEqual(["N9"]);
  const kept = [...quick.slice(0, 2), deliver(120, "12@a", 120_000n)];
  expect(laneRulesOf([one, ...kept, ...ends], { rate })).toEqual([]);
  const lost = { rate, wasLost: () => true };
  expect(laneRulesOf([one, ...quick, ...ends], lost)).toEqual([]);
  // A fall back to an older copy, whose tokens are those of a time that is over.
  const again = [deliver(100, "11@a", 20_000n), deliver(5_000, "12@a", 10_000n)];
  expect(laneRulesOf([one, ...again, ...ends], { rate, wasLost: (_, toMs) => toMs > 1_000 })).toEqual([]);
});

test("N1: the first after the second is found; where failures are skipped, only for first attempts", () => {
  const swapped = [deliver(20, "12@a", 13n), deliver(30, "11@a", 14n)];
  expect(laneRulesOf([inLane, ...swapped, ...ends])).toEqual(["N1"]);
  const skipped = [deliver(10, "11@a", 13n), deliver(20, "12@a", 14n), deliver(30, "11@a", 15n, 2)];
  expect(laneRulesOf([inLane, ...skipped, ...ends])).toEqual(["N1"]);
  expect(laneRulesOf([inLane, ...skipped, ...ends], { whenFailed: "skip" })).toEqual([]);
});

test("N1 with several in flight: a returned message goes before new ones", () => {
  const nack = operation("nack", 15, { id: "11@a" }, { token: 13n, serverUs: 13 });
  const turns = [deliver(10, "11@a", 13n), nack, deliver(20, "12@a", 14n), deliver(30, "11@a", 15n, 2)];
  expect(laneRulesOf([inLane, ...turns, ...ends], { inFlight: 2 })).toEqual(["N1"]);
});

test("N3: more ahead than before is found", () => {
  const look = (invMs: number, ahead: number): Operation =>
    operation("position", invMs, { id: "12@a", state: "waiting", ahead });
  expect(laneRulesOf([inLane, look(20, 2), look(40, 1), ...ends])).toEqual([]);
  expect(laneRulesOf([inLane, look(20, 1), look(40, 2), ...ends])).toEqual(["N3"]);
});

test("N4: a delivery after a cancel is found", () => {
  const cancel = operation("cancel", 20, { id: "11@b", isCancelled: true }, { serverUs: 12 });
  const [a, b] = [acked("11@a"), acked("12@a")];
  expect(laneRulesOf([inLane, cancel, a, b])).toEqual([]);
  expect(laneRulesOf([inLane, cancel, deliver(40, "11@b", 13n), a, b])).toEqual(["N4"]);
});

test("N5: many turns of one lane while another waits are found", () => {
  const numbers = ["13@a", "14@a", "15@a"];
  const more = push(5, numbers, {}, 15);
  const turns = ["11@a", "12@a", ...numbers].map((id, place) => deliver(20 + place, id, BigInt(20 + place)));
  const history = [inLane, more, ...turns, deliver(60, "11@b", 40n), ...ends, ...numbers.map(acked)];
  expect(laneRulesOf(history)).toEqual(["N5"]);
  expect(laneRulesOf(history, { isSteady: false })).toEqual([]);
});

test("N6: a lost message is found", () => {
  expect(laneRulesOf([inLane, ...ends.slice(1)])).toEqual(["N6"]);
});
