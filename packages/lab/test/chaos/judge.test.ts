/** The judge is what all chaos rests on: each kind of violation is found, and what is none is let pass. */
import { describe, expect, it } from "vitest";
import type { Fault } from "../../src/chaos/fault.ts";
import { judge } from "../../src/chaos/judge.ts";
import type { Operation } from "../../src/history/operation.ts";
import { acquire, historyOf, hold, roundOf } from "./rounds.ts";

const found = (operations: Operation[], faults: Fault[] = [], about = {}) =>
  judge(roundOf(historyOf(...operations), faults, about)).violations.map(({ property }) => property);

const fault = (breaks: "time" | "memory", fromMs: number, toMs = fromMs + 1): Fault => ({
  kind: breaks,
  target: "server",
  fromMs,
  toMs,
  detail: "",
  breaks,
  bites: breaks === "time" ? "clock" : "loss",
});

describe("exclusion", () => {
  const overlap = [
    acquire("w1.0", 0, 0, 10, 1n),
    hold("w1.0", 1, 10, 500, 1n),
    acquire("w2.0", 0, 100, 110, 2n),
    hold("w2.0", 1, 110, 200, 2n),
  ];

  it("is broken by two holds at one time", () => {
    expect(found(overlap)).toEqual(["L4"]);
  });

  it("is nobody's promise once the server forgot, or its clock moved, after the first was asked for", () => {
    expect(found(overlap, [fault("memory", 50)])).toEqual([]);
    expect(found(overlap, [fault("time", 5)])).toEqual([]);
    expect(found(overlap, [fault("time", 105)])).toEqual([]);
  });

  it("is promised again for what was asked for afterwards", () => {
    expect(found(overlap, [fault("memory", -20)])).toEqual(["L4"]);
    expect(found(overlap, [fault("time", -900, 900)])).toEqual(["L4"]); // it was set before, and set right afterwards
    expect(found(overlap, [fault("memory", 120)])).toEqual(["L4"]);
  });

  it("counts a turn inside a process from when its first was asked for", () => {
    const turns = [
      acquire("w1.0", 0, 0, 10, 1n, "one"),
      acquire("w1.1", 0, 80, 90, 2n, "one"),
      { ...hold("w1.1", 1, 90, 500, 2n), nonce: "one" },
      acquire("w2.0", 0, 100, 110, 3n),
      hold("w2.0", 1, 110, 200, 3n),
    ];
    expect(found(turns)).toEqual(["L4"]);
    expect(found(turns, [fault("memory", 50)])).toEqual([]);
  });

  it("knows that the dead hold nothing, and that a lease ends when its last renewal said", () => {
    const dead = [hold("w1.0", 0, 10, null, 1n), hold("w2.0", 0, 800, 1_000, 2n)];
    expect(found(dead)).toEqual(["L4"]);
    expect(found(dead, [], { deathsMs: new Map([["w1", 700]]) })).toEqual([]);
    const renewed: Operation = {
      ...{ process: "w1.0", seq: 1, f: "renew", key: "a", invMs: 300, retMs: 300 },
      ...{ type: "ok", token: 1n, nonce: "1", validUntilMs: 1_200 },
    };
    const later = hold("w2.0", 0, 1_000, 1_100, 2n);
    expect(found([hold("w1.0", 0, 10, null, 1n), later])).toEqual([]);
    expect(found([hold("w1.0", 0, 10, null, 1n), renewed, later])).toEqual(["L4"]);
  });
});

describe("tokens", () => {
  const falling = [
    acquire("w1.0", 0, 0, 10, 5n),
    hold("w1.0", 1, 10, 20, 5n),
    acquire("w2.0", 0, 100, 110, 4n),
  ];

  it("rise, also when the clock was moved or data was lost", () => {
    expect(found(falling)).toEqual(["L2"]);
    expect(found(falling, [fault("time", 50)])).toEqual(["L2"]);
    expect(found(falling, [fault("memory", 50)])).toEqual(["L2"]);
  });

  it("rise inside a process with the lease that they are part of, and no longer where the server ended it early", () => {
    const turn = [
      acquire("w1.0", 0, 0, 10, 4n, "one"),
      acquire("w2.0", 0, 100, 110, 9n),
      hold("w2.0", 1, 110, 120, 9n),
      acquire("w1.1", 0, 200, 210, 5n, "one"),
    ];
    expect(found(turn)).toEqual(["L2"]);
    expect(found(turn, [fault("time", 50)])).toEqual([]);
    expect(found(turn, [fault("memory", 50)])).toEqual([]);
    expect(found(turn, [fault("memory", 400)])).toEqual(["L2"]);
  });

  it("may fall at a loss where the clock was moved as well, and nowhere else", () => {
    expect(found(falling, [fault("memory", 50), fault("time", 20)])).toEqual([]);
    expect(found(falling, [fault("memory", 500), fault("time", 20)])).toEqual(["L2"]);
  });
});

describe("what a lock guards", () => {
  const write = (
    process: string,
    invMs: number,
    token: bigint,
    id: string,
    after: string | null,
  ): Operation => ({
    ...{ process, seq: 0, f: "write", key: "a", invMs, retMs: invMs + 1, type: "ok" },
    ...{ token, nonce: String(token), value: { id, after } },
  });

  it("loses no update", () => {
    expect(found([write("w1.0", 0, 1n, "x", null), write("w2.0", 5, 2n, "y", "x")])).toEqual([]);
    expect(found([write("w1.0", 0, 1n, "x", null), write("w2.0", 5, 2n, "y", null)])).toEqual(["L3"]);
  });

  it("takes nothing from who was overtaken", () => {
    expect(found([write("w1.0", 0, 2n, "x", null), write("w2.0", 5, 1n, "y", "x")])).toEqual(["L3"]);
  });
});

describe("calls", () => {
  const late = acquire("w1.0", 0, 0, 9_000, 1n);
  const stall: Operation = {
    ...{ process: "w1.process", seq: 0, f: "stall", key: "", invMs: 8_000, retMs: 8_000, type: "ok" },
    value: { fromMs: 100, toMs: 8_000 },
  };

  it("settle in their time, in which a process that stood still does not count", () => {
    expect(found([late])).toEqual(["P1"]);
    expect(found([late, stall])).toEqual([]);
    expect(found([{ ...late, retMs: null, type: "info" }])).toEqual(["P1"]);
    expect(found([{ ...late, retMs: null, type: "info" }], [], { deathsMs: new Map([["w1", 50]]) })).toEqual(
      [],
    );
  });

  it("leave nothing behind, and nothing uncaught", () => {
    expect(found([], [], { remains: ["w1 does not end by itself"] })).toEqual(["P1"]);
    const uncaught: Operation = {
      ...{ process: "w1.process", seq: 0, f: "uncaught", key: "", invMs: 1, retMs: 1, type: "info" },
      error: "Error: at holdfast",
    };
    expect(found([uncaught])).toEqual(["P1"]);
    expect(found([{ ...uncaught, error: "Error at /node_modules/redlock5/x" }])).toEqual([]);
    expect(found([{ ...uncaught, error: "ReplyError: BUSY\n    at decoder\n    at a canary" }])).toEqual([]);
  });
});

describe("canaries", () => {
  it("are caught, with the faults that may have done it", () => {
    const pause: Fault = {
      kind: "worker-pause",
      target: "w1",
      fromMs: 20,
      toMs: 300,
      detail: "",
      bites: "pause",
    };
    const holds = [
      hold("w1.redlock", 0, 10, 320, 1n, "canary:redlock"),
      hold("w2.redlock", 0, 200, 250, 2n, "canary:redlock"),
    ];
    const elsewhere = { ...pause, target: "w3" };
    const { caught, violations } = judge(
      roundOf(historyOf(...holds), [pause, elsewhere, fault("time", 900)]),
    );
    expect(violations).toEqual([]);
    expect(caught.map(({ canary, bites }) => ({ canary, bites }))).toEqual([
      { canary: "redlock", bites: ["pause"] },
    ]);
  });
});
