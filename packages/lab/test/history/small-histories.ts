/** Small histories at random, right and wrong, and what they mean by the plainest search there is. */
import type { Dice } from "../../src/chance/dice.ts";
import type { Operation } from "../../src/index.ts";

/** Two or three processes that acquire and release, mostly in turns; whole milliseconds, so that many coincide. */
export function mutexHistory(dice: Dice, isDefinite: boolean): Operation[] {
  const operations: Operation[] = [];
  const processes = dice.whole(2, 3);
  for (let at = 0; at < processes; at++) {
    let timeMs = dice.whole(0, 6);
    const length = dice.whole(1, processes === 2 ? 4 : 3);
    for (let seq = 0; seq < length; seq++) {
      const isTurn = isDefinite || !dice.chance(0.1);
      const f = (seq % 2 === 0) === isTurn ? "acquire" : "release";
      const invMs = timeMs + dice.whole(1, 3);
      const retMs = invMs + dice.whole(0, 4);
      const type = isDefinite ? "ok" : dice.pick(["ok", "ok", "ok", "info", "fail"] as const);
      const isLost = type === "info" && dice.chance(0.3);
      const operation = { process: `p${at}`, seq, f, key: "k", invMs, retMs: isLost ? null : retMs, type };
      const isLease = f === "acquire" && !isDefinite && dice.chance(0.3);
      operations.push(isLease ? { ...operation, validUntilMs: retMs + dice.whole(0, 4) } : operation);
      timeMs = retMs;
    }
  }
  return operations;
}

interface Step {
  readonly invMs: number;
  readonly retMs: number;
  readonly isCertain: boolean;
  readonly isTaking: boolean;
  /** Whose hold begins or ends. */
  readonly acquire: Operation | undefined;
}

/** Every order is tried, with no care for cost: next is whatever no other one that must come has returned before. */
export function hasOrder(operations: readonly Operation[]): boolean {
  return tryAll(
    operations.flatMap((operation) => stepsOf(operation, operations)),
    undefined,
  );
}

function tryAll(left: readonly Step[], holder: Operation | undefined): boolean {
  if (left.every(({ isCertain }) => !isCertain)) return true;
  const limitMs = Math.min(...left.filter(({ isCertain }) => isCertain).map(({ retMs }) => retMs));
  return left.some((step) => {
    if (step.invMs > limitMs) return false;
    if (step.isTaking ? holder !== undefined : holder === undefined || holder !== step.acquire) return false;
    return tryAll(
      left.filter((other) => other !== step),
      step.isTaking ? step.acquire : undefined,
    );
  });
}

function stepsOf(operation: Operation, operations: readonly Operation[]): Step[] {
  const { f, type, invMs } = operation;
  if (type === "fail") return [];
  const isCertain = type === "ok";
  const retMs = isCertain ? operation.retMs! : Infinity;
  if (f === "release") {
    const before = operations.filter(
      (one) =>
        one.process === operation.process &&
        one.f === "acquire" &&
        one.type !== "fail" &&
        one.seq < operation.seq,
    );
    return [{ invMs, retMs, isCertain, isTaking: false, acquire: before.at(-1) }];
  }
  const taking = { invMs, retMs, isCertain, isTaking: true, acquire: operation };
  if (operation.validUntilMs === undefined) return [taking];
  const end = { invMs: operation.validUntilMs, retMs: Infinity, isCertain: false, isTaking: false };
  return [taking, { ...end, acquire: operation }];
}

/** Grants with tokens, some of them of an outcome that nobody was told. */
export function tokenHistory(dice: Dice): Operation[] {
  return Array.from({ length: dice.whole(2, 6) }, (_, at) => {
    const invMs = dice.whole(0, 9);
    const type = dice.chance(0.15) ? "info" : "ok";
    const isKnown = type === "ok" || dice.chance(0.5);
    const operation = {
      process: `p${at}`,
      seq: 0,
      f: "acquire",
      key: "k",
      invMs,
      retMs: invMs + dice.whole(0, 5),
    };
    return isKnown ? { ...operation, type, token: BigInt(dice.whole(1, 12)) } : { ...operation, type };
  });
}

/** Visits to a fenced resource; `value` is their place in its order. */
export function fenceHistory(dice: Dice): Operation[] {
  return Array.from({ length: dice.whole(2, 6) }, (_, at) => {
    const type = dice.chance(0.3) ? "fail" : "ok";
    const token = BigInt(dice.whole(1, 4));
    const nonce = dice.chance(0.1) ? "other" : `n${token}`;
    return {
      process: `p${at}`,
      seq: 0,
      f: "write",
      key: "file",
      invMs: at,
      retMs: at + 9,
      type,
      token,
      nonce,
      value: at,
    };
  });
}

/** The fence itself, asked in that order, says the same. */
export function fenceSaysSo(operations: readonly Operation[]): boolean {
  let seen = { token: 0n, nonce: "" };
  return operations.every(({ type, token = 0n, nonce = "" }) => {
    const refuses = seen.token > token || (seen.token === token && seen.nonce !== nonce);
    if (!refuses) seen = { token, nonce };
    return refuses === (type === "fail");
  });
}
