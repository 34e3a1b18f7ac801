import { describe, expect, it } from "vitest";
import { LeaseLostError } from "../src/errors.js";
import { HeldLease } from "../src/lease/held-lease.js";
import { Hold } from "../src/lease/hold.js";
import type { Clock } from "../src/time/clock.js";

describe("a lease whose process stalls whenever it looks at the clock", () => {
  it("is valid, or lost, and never given back by itself", () => {
    const stallMs = 300;
    const ttlMs = 1_000;
    let nowMs = 0;
    const clock: Clock = {
      now() {
        nowMs += stallMs;
        return { monoMs: nowMs, wallMs: nowMs };
      },
      setTimer: () => () => {},
    };
    const hold = new Hold(
      clock,
      { name: "account:13", id: "a" },
      { token: 1n, turns: 1, ttlMs, sentAt: { monoMs: 0, wallMs: 0 } },
    );
    const turn: HeldLease = new HeldLease(clock, hold, Number.POSITIVE_INFINITY, {
      giveBack: () => {},
      lose: (reason) => turn.lose(reason),
      handOver: () => Promise.reject(new Error("nobody hands this lease over")),
    });
    const told: string[] = [];
    for (let look = 0; look < 4; look++) {
      try {
        turn.check();
        told.push("valid");
      } catch (error) {
        expect(error).toBeInstanceOf(LeaseLostError);
        told.push((error as LeaseLostError).reason);
      }
    }
    expect(told).toEqual(["valid", "valid", "expired", "expired"]);
  });
});
