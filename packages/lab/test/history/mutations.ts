/** Ways to break a valid history: each makes one thing happen that must not, as a broken lock would. */
import type { Dice } from "../../src/chance/dice.ts";
import type { Operation } from "../../src/history/operation.ts";
import type { Property } from "../../src/history/violation.ts";
import { SETTLE_MS, WAIT_MS } from "./everything.ts";
import type { IdealHistory } from "./ideal-lock.ts";

export interface Mutation {
  readonly kind: string;
  readonly property: Property;
  /** undefined: this history has no place for it. */
  readonly apply: (history: IdealHistory, dice: Dice) => IdealHistory | undefined;
}

type Change = readonly [Operation, Partial<Operation>];

export const mutations: readonly Mutation[] = [
  {
    kind: "duplicate token",
    property: "L1",
    apply: (history, dice) => {
      const [a, b] = dice.shuffle(grants(history));
      return a && b && changed(history, [[b, { token: a.token! }]]);
    },
  },
  {
    kind: "grant without a token",
    property: "L1",
    apply: (history, dice) => {
      const grant = any(dice, grants(history));
      const { token: _, ...bare } = grant ?? {};
      return grant && replaced(history, new Map([[grant, bare as Operation]]));
    },
  },
  {
    kind: "falling token",
    property: "L2",
    apply: (history, dice) => {
      const pair = any(
        dice,
        pairs(grants(history)).filter(([a, b]) => a.retMs! < b.invMs),
      );
      return pair && changed(history, [[pair[1], { token: pair[0].token! - 1n }]]);
    },
  },
  {
    kind: "token of an acquire of unknown outcome, seen elsewhere",
    property: "L1",
    apply: (history, dice) => {
      const grant = any(dice, grants(history));
      const doubtful = any(dice, of(history, "acquire", "info"));
      return grant && doubtful && changed(history, [[doubtful, { token: grant.token! }]]);
    },
  },
  {
    kind: "holder goes on after his end",
    property: "L4",
    apply: (history, dice) => {
      const held = grants(history).filter(({ endMs }) => endMs !== undefined);
      const pair = any(
        dice,
        pairs(grants(history)).filter(([a, b]) => held.includes(a) && a.endMs! < b.retMs! && lasts(b)),
      );
      return pair && changed(history, [[pair[0], { endMs: pair[1].retMs! + 0.01 }]]);
    },
  },
  {
    kind: "granted while another one has it",
    property: "L4",
    apply: (history, dice) => {
      const inside = pairs(grants(history)).filter(
        ([a, b]) => b.invMs > a.retMs! && coreEnd(history, a) > a.retMs!,
      );
      const pair = any(dice, inside);
      if (!pair) return undefined;
      const [a, b] = pair;
      const middle = (a.retMs! + Math.min(coreEnd(history, a), a.retMs! + 1)) / 2;
      return changed(history, [[b, { invMs: middle - 0.001, retMs: middle, endMs: middle + 0.001 }]]);
    },
  },
  {
    kind: "stale visit accepted",
    property: "L3",
    apply: (history, dice) => {
      const { places } = history;
      const overtaken = visits(history, "fail").filter((late) =>
        visits(history, "ok").some(
          (other) => other.token! > late.token! && places.get(other)! < places.get(late)!,
        ),
      );
      const refused = any(dice, overtaken);
      return refused && changed(history, [[refused, { type: "ok" }]]);
    },
  },
  {
    kind: "visit refused for nothing",
    property: "L3",
    apply: (history, dice) => {
      const possible = visits(history, "ok", "info");
      const fresh = visits(history, "ok").filter(
        (one) => !possible.some((other) => other.token! > one.token! && other.invMs <= one.retMs!),
      );
      const visit = any(dice, fresh);
      return visit && changed(history, [[visit, { type: "fail", error: "STALE_TOKEN" }]]);
    },
  },
  {
    kind: "refused for the holder's own earlier visit",
    property: "L3",
    apply: (history, dice) => {
      const own = of(history, "write", "ok").filter((one) =>
        visits(history, "ok", "info").every(
          (other) => other.token! <= one.token! && (other.token !== one.token || other.nonce === one.nonce),
        ),
      );
      const visit = any(dice, own);
      return visit && changed(history, [[visit, { type: "fail", error: "STALE_HOLDER" }]]);
    },
  },
  {
    kind: "one token, two holders",
    property: "L3",
    apply: (history, dice) => {
      const same = pairs(visits(history, "ok")).filter(([a, b]) => a.token === b.token && a !== b);
      const pair = any(dice, same);
      return pair && changed(history, [[pair[1], { nonce: "another" }]]);
    },
  },
  {
    kind: "free, and nobody is woken",
    property: "W1",
    apply: (history, dice) => {
      const moments = of(history, "release", "ok").map(({ retMs }) => retMs!);
      const idle = moments.filter(
        (atMs) =>
          grants(history).some(({ invMs, retMs }) => invMs < atMs && atMs < retMs!) && isFree(history, atMs),
      );
      const atMs = any(dice, idle);
      return atMs === undefined ? undefined : delayed(history, atMs, 2 * WAIT_MS);
    },
  },
  {
    kind: "overtaken in line",
    property: "F1",
    apply: (history, dice) => {
      const { queuedMs } = history;
      const inLine = pairs(grants(history)).filter(([a, b]) => queuedMs.get(a)! < b.invMs);
      const pair = any(dice, inLine);
      return (
        pair &&
        changed(history, [
          [pair[0], { token: pair[1].token! }],
          [pair[1], { token: pair[0].token! }],
        ])
      );
    },
  },
  {
    kind: "answer long overdue",
    property: "P1",
    apply: (history, dice) => {
      const release = any(dice, of(history, "release", "ok", "info", "fail"));
      return release && changed(history, [[release, { retMs: release.invMs + 2 * SETTLE_MS }]]);
    },
  },
  {
    kind: "never settled",
    property: "P1",
    apply: (history, dice) => {
      const release = any(dice, of(history, "release", "ok", "info", "fail"));
      const late = release && changed(history, [[release, { retMs: null, type: "info" }]]);
      return late && { ...late, endMs: history.endMs + 2 * SETTLE_MS };
    },
  },
];

function of({ operations }: IdealHistory, f: string, ...types: Operation["type"][]): Operation[] {
  return operations.filter((one) => one.f === f && one.retMs !== null && types.includes(one.type));
}

function grants(history: IdealHistory): Operation[] {
  return of(history, "acquire", "ok");
}

function visits(history: IdealHistory, ...types: Operation["type"][]): Operation[] {
  return ["enter", "write"].flatMap((f) => of(history, f, ...types));
}

function pairs(operations: readonly Operation[]): [Operation, Operation][] {
  return operations.flatMap((a) =>
    operations.filter((b) => b !== a).map((b): [Operation, Operation] => [a, b]),
  );
}

function any<Item>(dice: Dice, items: readonly Item[]): Item | undefined {
  return items.length === 0 ? undefined : dice.pick(items);
}

function lasts({ retMs, endMs = Infinity, validUntilMs = Infinity }: Operation): boolean {
  return Math.min(endMs, validUntilMs) > retMs! + 0.01;
}

/** Until when nobody else can have it: what may end the grant has not begun. */
function coreEnd({ operations }: IdealHistory, { process, seq, validUntilMs = Infinity }: Operation): number {
  const release = operations.find((one) => one.process === process && one.f === "release" && one.seq > seq);
  return release?.type === "ok" ? release.invMs : Math.min(validUntilMs, release?.invMs ?? Infinity);
}

/** Whatever was granted before this moment was given back before it, for certain. */
function isFree({ operations }: IdealHistory, atMs: number): boolean {
  return operations
    .filter(({ f }) => f === "acquire")
    .every(({ process, seq, type, retMs }) => {
      const release = operations.find(
        (one) => one.process === process && one.f === "release" && one.seq > seq,
      );
      if (type !== "ok") return false;
      return retMs! > atMs || (release?.type === "ok" && release.retMs! <= atMs);
    });
}

function changed(history: IdealHistory, changes: readonly Change[]): IdealHistory {
  return replaced(
    history,
    new Map(changes.map(([operation, change]) => [operation, { ...operation, ...change }])),
  );
}

/** Everything after `atMs` happens later. */
function delayed(history: IdealHistory, atMs: number, byMs: number): IdealHistory {
  const later = <Time extends number | null | undefined>(timeMs: Time) =>
    typeof timeMs === "number" && timeMs > atMs ? timeMs + byMs : timeMs;
  const changes = history.operations.map((operation): [Operation, Operation] => {
    const moved = { ...operation };
    for (const name of ["invMs", "retMs", "validUntilMs", "endMs"] as const) {
      if (name in moved) Object.assign(moved, { [name]: later(moved[name]) });
    }
    return [operation, moved];
  });
  const deathsMs = new Map([...history.deathsMs].map(([process, diedMs]) => [process, later(diedMs)]));
  return { ...replaced(history, new Map(changes)), deathsMs, endMs: later(history.endMs) };
}

function replaced(history: IdealHistory, by: ReadonlyMap<Operation, Operation>): IdealHistory {
  const now = (operation: Operation) => by.get(operation) ?? operation;
  const moved = <Value>(map: ReadonlyMap<Operation, Value>) =>
    new Map([...map].map(([operation, value]) => [now(operation), value]));
  return {
    ...history,
    operations: history.operations.map(now),
    places: moved(history.places),
    queuedMs: moved(history.queuedMs),
  };
}
