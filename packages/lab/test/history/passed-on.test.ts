/** F2: what a process may do with one grant, and what it may not. */
import { expect, it } from "vitest";
import type { Operation } from "../../src/history/operation.js";
import { checkPassedOn, isFirstTurn } from "../../src/history/passed-on.js";

const bounds = { localTurns: 3, lingerMs: 50, ttlMs: 900 };
const key = "it";
const process = "p1.1";

/** Turns of one grant, each of 10 ms, that were asked for at these times and begun after as much more. */
function grant(...turns: readonly (readonly [askedMs: number, afterMs: number])[]): Operation[] {
  return turns.flatMap(([invMs, afterMs], place): Operation[] => {
    const token = BigInt(place + 1);
    const [beganMs, seq] = [invMs + afterMs, 2 * place];
    return [
      { seq, process, f: "acquire", key, type: "ok", invMs, retMs: beganMs, token, nonce: "claim" },
      {
        seq: seq + 1,
        process,
        f: "release",
        key,
        type: "ok",
        invMs: beganMs + 10,
        retMs: beganMs + 10,
        token,
      },
    ];
  });
}

const found = (operations: readonly Operation[], calmFromMs = 0): string[] =>
  checkPassedOn(operations, { boundsOf: () => bounds, calmFromMs }).map(({ message }) => message);

it("a grant that keeps its bounds breaks nothing", () => {
  expect(found(grant([0, 5], [65, 0], [125, 0]))).toEqual([]);
  expect(found(grant([0, 5], [10, 5]))).toEqual([]);
});

it("one turn too many is found, whenever it was", () => {
  const turns = grant([0, 5], [20, 0], [40, 0], [60, 0]);
  expect(found(turns, 1_000)).toEqual([expect.stringContaining("served 4 turns of 3")]);
});

it("a turn that begins after a third of the ttl is found, where nothing was wrong", () => {
  const turns = grant([0, 5], [10, 310]);
  expect(found(turns)).toEqual([expect.stringContaining("after the grant")]);
  expect(found(turns, 1)).toEqual([]);
});

it("a hold that lingers for too long is found, unless its caller waited already", () => {
  expect(found(grant([0, 5], [70, 0]))).toEqual([expect.stringContaining("lingered for")]);
  expect(found(grant([0, 5], [14, 60]))).toEqual([]);
});

it("the first turn of a grant is the one that was asked of the server", () => {
  const turns = grant([0, 5], [20, 0]);
  expect(turns.map(isFirstTurn(turns))).toEqual([true, false, false, false]);
});
