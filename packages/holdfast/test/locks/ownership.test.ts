/** Owners and scopes, with leases that the test ends. The promises to callers are in packages/conformance/src/ownership. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { Lease } from "../../src/lease/lease.js";
import { type LockOwner, Ownership } from "../../src/locks/ownership.js";
import { systemRandom } from "../../src/time/random.js";

interface FakeLease extends Lease {
  valid: boolean;
}

function lease(name: string): FakeLease {
  return { name, valid: true } as FakeLease;
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

function names(owner: LockOwner | null): readonly string[] | undefined {
  return owner?.held.map(({ lease }) => lease.name);
}

describe("Ownership", () => {
  const ownership = new Ownership(systemRandom);
  const held = (one: Lease) => [{ noun: "mutex", lease: one } as const];

  it("knows nobody outside of a run, and everything around within one", async () => {
    const [outer, inner] = [lease("outer"), lease("inner")];
    expect(ownership.of(undefined)).toBeNull();
    await ownership.within(undefined, held(outer), async () => {
      await Promise.all([
        ownership.within(undefined, held(inner), async () => {
          await null;
          expect(names(ownership.of(undefined))).toEqual(["inner", "outer"]);
        }),
        (async () => expect(names(ownership.of(undefined))).toEqual(["outer"]))(),
      ]);
      expect(names(ownership.of(undefined))).toEqual(["outer"]);
      outer.valid = false;
      expect(ownership.of(undefined)).toBeNull();
    });
  });

  it("keeps the scopes of two Holdfasts apart", async () => {
    const other = new Ownership(systemRandom);
    await ownership.within(undefined, held(lease("a")), () =>
      other.within(undefined, held(lease("b")), async () => {
        expect(names(ownership.of(undefined))).toEqual(["a"]);
        expect(names(other.of(undefined))).toEqual(["b"]);
      }),
    );
  });

  it("goes by the object that the caller names, wherever it is named", async () => {
    const request = {};
    const [first, second] = [lease("first"), lease("second")];
    ownership.holds(request, "mutex", first);
    ownership.holds(undefined, "mutex", second);
    const owner = ownership.of(request);
    expect(names(owner)).toEqual(["first"]);
    await ownership.within(undefined, held(lease("scope")), async () => {
      expect(ownership.of(request)).toBe(owner);
      await ownership.within(request, held(second), async () => {
        expect(ownership.of(undefined)).toBe(owner);
        await ownership.within(undefined, held(lease("inner")), async () =>
          expect(names(ownership.of(undefined))).toEqual(["inner", "first"]),
        );
      });
    });
    first.valid = false;
    expect(names(owner)).toEqual([]);
    expect(owner?.id).toBe(ownership.of(request)?.id);
    expect(owner?.id).not.toBe(ownership.of({})?.id);
  });

  it("watches a wait only of an owner that holds something", async () => {
    const watched: unknown[] = [];
    const ownership = new Ownership(systemRandom, (owner, { name }, { waitMs, signal }, wait) => {
      watched.push([owner, name, waitMs]);
      return wait(signal);
    });
    const wanted = { noun: "mutex", name: "b", weight: 1, permits: 1, isExclusive: true } as const;
    const request = {};
    const owner = ownership.of(request) as LockOwner;
    const got = lease("b");
    const wait = async (): Promise<Lease> => got;
    expect(await ownership.watch(owner, wanted, { waitMs: 5, signal: undefined }, wait)).toBe(got);
    expect(watched).toEqual([]);
    ownership.holds(request, "mutex", lease("a"));
    expect(await ownership.watch(owner, wanted, { waitMs: 5, signal: undefined }, wait)).toBe(got);
    expect(watched).toEqual([[owner, "b", 5]]);
  });

  it("forgets scopes that are over, even if code starts each run within the one before", async () => {
    let around: WeakRef<Lease> | null = null;
    let current = lease("0");
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const step = async (round: number): Promise<void> => {
      if (round === 50) return end();
      const before = current;
      current = lease(String(round));
      await ownership.within(undefined, held(current), async () => {
        before.valid = false;
        if (round === 0) around = new WeakRef(current);
        expect(names(ownership.of(undefined))).toEqual([String(round)]);
        // The call goes on, but nobody awaits it: only its async context is left.
        setImmediate(() => void step(round + 1));
      });
    };
    await step(0);
    await ended;
    collectGarbage();
    expect((around as WeakRef<Lease> | null)?.deref()).toBeUndefined();
    expect(current.name).toBe("49");
  });
});
