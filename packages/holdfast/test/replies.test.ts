/** Answers of another shape, and answers to another call, are no answers. */
import { describe, expect, test } from "vitest";
import { holderSeen, verdict } from "../src/locks/backends/redis/replies.js";
import { takeReply } from "../src/locks/backends/redis/take-reply.js";
import type { Reply } from "../src/redis/port.js";

const TOKEN = "1795262297451817";
const HELD = `${TOKEN} b ${TOKEN} ${TOKEN} 86400000 1000 {"host":"h","pid":1,"label":""}`;
const indeterminate = expect.objectContaining({ code: "INDETERMINATE" });

describe("an answer of take", () => {
  test("is a token only for the id that it names", () => {
    expect(takeReply(`${TOKEN}a`, ["a"])).toEqual({ seen: [BigInt(TOKEN)], ticket: TOKEN });
    expect(takeReply([`${TOKEN}a`, `${TOKEN}x`, TOKEN], ["a", "b"]).seen).toEqual([
      BigInt(TOKEN),
      `${TOKEN}x`,
    ]);
    expect(takeReply(`${TOKEN}x`, ["a"]).seen).toEqual([`${TOKEN}x`]);
    expect(holderSeen(`${TOKEN}x`, "a")).toBeNull();
  });

  test("of another shape is no answer", () => {
    for (const reply of ["QUEUED", "5", "", null, 1, [], [`${TOKEN}a`], [`${TOKEN}a`, "now"]]) {
      expect(() => takeReply(reply, ["a"])).toThrow(indeterminate);
    }
  });

  test("says who holds, unless only acquire can tell: lapsed, or longer than its ttl", () => {
    const state = (leftMs: number) => takeReply([[HELD, leftMs], TOKEN], ["a"]).seen[0] as Reply;
    const seen = (leftMs: number) => holderSeen(state(leftMs), "a");
    expect(seen(900)).toMatchObject({ owner: { host: "h" }, ahead: null });
    expect([seen(0), seen(-5), seen(3_600_000)]).toEqual([null, null, null]);
    expect(holderSeen(state(900), "b")).toBe(BigInt(TOKEN)); // sent twice by the client
    expect(holderSeen("", "a")).toBeNull();
  });
});

test("a grant of acquire or beat is believed only for the id that it names", () => {
  expect(verdict([1, TOKEN, "a"], "a")).toEqual({ kind: "granted", token: BigInt(TOKEN) });
  expect(() => verdict([1, TOKEN, "b"], "a")).toThrow(indeterminate);
  expect(() => verdict([1, TOKEN], "a")).toThrow(indeterminate);
});
