/** Response fields in every style, several on one response, and the answers. */
import type { LimitResult } from "holdfast";
import { writeFields } from "holdfast/middleware";
import { parseList } from "structured-headers";
import { describe, expect, test } from "vitest";
import { answerOf } from "../../src/middleware/answer.js";
import { busyPage } from "../../src/middleware/busy-page.js";
import { checkStyles, type FieldStyle, fieldsOf } from "../../src/middleware/fields.js";

const WALL_MS = 1_700_000_000_000;

function result(name: string, over: Partial<LimitResult> = {}, perMs: number | null = 60_000): LimitResult {
  const policy = { name, type: "window", max: 100, perMs } as const;
  return { ok: true, remaining: 50, retryAfterMs: 0, resetMs: 4_100, policy, source: "redis", ...over };
}

function written(styles: readonly FieldStyle[], ...results: LimitResult[]): Record<string, string> {
  const headers: Record<string, string> = {};
  writeFields(
    fieldsOf(styles, results, WALL_MS),
    (name) => headers[name] ?? null,
    (name, value) => {
      headers[name] = value;
    },
  );
  return headers;
}

const day = result("day", { remaining: 7, resetMs: 80_000_001 }, 86_400_000);

describe("draft-11", () => {
  test("a member for each limit, in seconds rounded up", () => {
    expect(written(["draft-11"], result("minute"), day)).toEqual({
      "RateLimit-Policy": '"minute";q=100;w=60, "day";q=100;w=86400',
      RateLimit: '"minute";r=50;t=5, "day";r=7;t=80001',
    });
  });

  test("what was refused says when it fits, what never ends has no time, what was not asked is left out", () => {
    const refused = result("minute", { ok: false, remaining: 0, retryAfterMs: 1, resetMs: 9_000 });
    const life = result("life", { resetMs: null }, null);
    const away = result("away", { source: "outage", resetMs: null });
    expect(written(["draft-11"], refused, life, away)).toEqual({
      "RateLimit-Policy": '"minute";q=100;w=60, "life";q=100, "away";q=100;w=60',
      RateLimit: '"minute";r=0;t=1, "life";r=50',
    });
    expect(written(["draft-11"], away)).toEqual({ "RateLimit-Policy": '"away";q=100;w=60' });
  });

  test("a window of less than a second is one second, and t is 0 at its end", () => {
    expect(written(["draft-11"], result("quick", { resetMs: 0 }, 10))).toEqual({
      "RateLimit-Policy": '"quick";q=100;w=1',
      RateLimit: '"quick";r=50;t=0',
    });
  });

  test("two names are two members, however alike they look", () => {
    const list = parseList(written(["draft-11"], result("ü"), result("%C3%BC")).RateLimit ?? "");
    expect(list.map(([name]) => name)).toEqual(["%C3%BC", "%25C3%25BC"]);
  });

  test("any name is a String that parses back", () => {
    for (const name of ['a"b\\c, d;e', "größe 100 €", "\n\t", "日本", "100%", "%C3%BC"]) {
      const list = parseList(written(["draft-11"], result(name)).RateLimit ?? "");
      expect(decodeURIComponent(list[0]?.[0] as string)).toBe(name);
    }
  });

  test("a limit that was charged for several targets is told of once", () => {
    const refused = result("minute", { ok: false, remaining: 0, retryAfterMs: 3_000 });
    expect(written(["draft-11"], result("minute", { remaining: 0 }), refused, day).RateLimit).toBe(
      '"minute";r=0;t=3, "day";r=7;t=80001',
    );
  });

  test("is added to what another middleware wrote; the same limit again takes its place", () => {
    const headers: Record<string, string> = { RateLimit: '"a, \\"b";r=1;t=2, "minute";r=99, other;r=3' };
    writeFields(
      fieldsOf(["draft-11"], [result("minute")], WALL_MS),
      (name) => headers[name] ?? null,
      (name, value) => {
        headers[name] = value;
      },
    );
    expect(headers.RateLimit).toBe('"a, \\"b";r=1;t=2, other;r=3, "minute";r=50;t=5');
  });
});

describe("t is for how long no more than r can be had, refused or not", () => {
  const bucket = (over: Partial<LimitResult>, max = 3, perMs = 60_000) => {
    const policy = { name: "bucket", type: "rolling", max, perMs } as const;
    return written(["draft-11"], { ...result("bucket"), ...over, policy }).RateLimit;
  };

  test("of a bucket, until the next one has regenerated", () => {
    expect(bucket({ remaining: 2, resetMs: 20_000 })).toBe('"bucket";r=2;t=20');
    expect(bucket({ remaining: 1, resetMs: 39_000 })).toBe('"bucket";r=1;t=19');
    expect(bucket({ remaining: 0, resetMs: 60_000 })).toBe('"bucket";r=0;t=20');
    expect(bucket({ ok: false, remaining: 0, retryAfterMs: 19_500, resetMs: 59_500 })).toBe(
      '"bucket";r=0;t=20',
    );
    expect(bucket({ remaining: 3, resetMs: 0 })).toBe('"bucket";r=3;t=0');
  });

  test("where more was asked for than remains, until any is to be had; Retry-After until that fits", () => {
    expect(bucket({ ok: false, remaining: 1, retryAfterMs: 39_000, resetMs: 39_000 })).toBe(
      '"bucket";r=1;t=19',
    );
    expect(bucket({ ok: false, remaining: 1, retryAfterMs: null, resetMs: 39_000 })).toBe(
      '"bucket";r=1;t=19',
    );
  });

  test("of a rate that does not come out even, and one too quick to be seen", () => {
    // A seventh of a minute is 8571.43 ms: one, told as 8572, two as 17143, seven as 60000.
    expect(bucket({ remaining: 6, resetMs: 8_572 }, 7)).toBe('"bucket";r=6;t=9');
    expect(bucket({ remaining: 5, resetMs: 17_143 }, 7)).toBe('"bucket";r=5;t=9');
    expect(bucket({ remaining: 0, resetMs: 60_000 }, 7)).toBe('"bucket";r=0;t=9');
    expect(bucket({ remaining: 9, resetMs: 1 }, 1_000_000, 1_000)).toBe('"bucket";r=9;t=1');
  });

  test("is never later than Retry-After, and of sliding on the safe side", () => {
    expect(bucket({ ok: false, remaining: 0, retryAfterMs: 19_000, resetMs: 59_001 })).toBe(
      '"bucket";r=0;t=19',
    );
    const policy = { name: "s", type: "sliding", max: 3, perMs: 60_000 } as const;
    const sliding = { ...result("s"), remaining: 0, resetMs: 60_000, policy };
    expect(written(["draft-11"], sliding).RateLimit).toBe('"s";r=0;t=60');
    const refused = { ...sliding, ok: false, retryAfterMs: 20_000 };
    expect(written(["draft-11"], refused).RateLimit).toBe('"s";r=0;t=20');
  });

  test("is not said where it never ends, or nothing is ever admitted", () => {
    const policy = { name: "shut", type: "window", max: 0, perMs: 60_000 } as const;
    const shut = { ...result("shut"), ok: false, remaining: 0, retryAfterMs: null, resetMs: 0, policy };
    expect(written(["draft-11"], shut).RateLimit).toBe('"shut";r=0');
  });

  test("the older reset is the same time, and does not go back", () => {
    const policy = { name: "b", type: "rolling", max: 3, perMs: 60_000 } as const;
    const told = (remaining: number, resetMs: number, ok = true) => {
      const at = { ...result("b"), ok, remaining, resetMs, retryAfterMs: ok ? 0 : 20_000, policy };
      return written(["draft-6", "legacy"], at);
    };
    for (const headers of [told(2, 20_000), told(1, 40_000), told(0, 60_000), told(0, 60_000, false)])
      expect(headers).toMatchObject({ "RateLimit-Reset": "20", "X-RateLimit-Reset": "1700000020" });
  });
});

describe("older styles tell of the limit that is nearest to its end", () => {
  test("draft-7", () => {
    expect(written(["draft-7"], result("minute"), day)).toEqual({
      "RateLimit-Policy": "100;w=60, 100;w=86400",
      RateLimit: "limit=100, remaining=7, reset=80001",
    });
  });

  test("draft-6 and legacy together", () => {
    expect(written(["draft-6", "legacy"], day, result("minute"))).toEqual({
      "RateLimit-Policy": "100;w=86400, 100;w=60",
      "RateLimit-Limit": "100",
      "RateLimit-Remaining": "7",
      "RateLimit-Reset": "80001",
      "X-RateLimit-Limit": "100",
      "X-RateLimit-Remaining": "7",
      "X-RateLimit-Reset": "1700080001",
    });
  });

  test("of those that refused, the last to give in", () => {
    const soon = result("soon", { ok: false, remaining: 0, retryAfterMs: 1_000 });
    const late = result("late", { ok: false, remaining: 3, retryAfterMs: 2_000 });
    expect(written(["draft-7"], soon, late, day).RateLimit).toBe("limit=100, remaining=3, reset=2");
  });
});

test("styles that contradict each other are refused", () => {
  expect(checkStyles()).toEqual(["draft-11"]);
  expect(checkStyles(false)).toEqual([]);
  expect(checkStyles(["draft-7", "legacy"])).toEqual(["draft-7", "legacy"]);
  expect(() => checkStyles(["draft-11", "draft-7"])).toThrow(/one draft/);
  expect(() => checkStyles("draft-8")).toThrow(/draft-11/);
});

describe("an answer", () => {
  const refusal = { reason: "limit", retryAfterMs: 1, results: [], verdict: null, request: null } as const;

  test("has Retry-After in whole seconds, at least one; none where it is never", () => {
    expect(answerOf(refusal, "GET", null).headers["retry-after"]).toBe("1");
    expect(answerOf({ ...refusal, retryAfterMs: 60_001 }, "GET", null).headers["retry-after"]).toBe("61");
    const never = answerOf({ ...refusal, retryAfterMs: null }, "GET", null);
    expect(never.headers).not.toHaveProperty("retry-after");
    expect(JSON.parse(never.body).detail).toMatch(/not be allowed later/);
  });

  test.each([
    [1, "1 second"],
    [15_000, "15 seconds"],
    [119_001, "2 minutes"],
    [3_600_000, "60 minutes"],
    [86_400_000, "24 hours"],
    [null, "come back later"],
  ])("the page for %s ms says: %s", (retryAfterMs, says) => {
    expect(busyPage(retryAfterMs, true)).toContain(says);
  });
});
