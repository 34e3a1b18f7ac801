/** Answers of another shape, and answers to another call, are no answers. */
import { describe, expect, test } from "vitest";
import { takeReply, verdict } from "../src/locks/backends/redis/replies.js";

const TOKEN = "1795262297451817";
const HELD = `${TOKEN} b ${TOKEN} ${TOKEN} 86400000 1000 {"host":"h","pid":1,"label":""}`;
const indeterminate = expect.objectContaining({ code: "INDETERMINATE" });

describe("an answer of take", () => {
  test("is a token only for the id that it names", () => {
    expect(takeReply(`${TOKEN}a`, ["a"])).toEqual({ seen: [BigInt(TOKEN)], ticket: TOKEN });
    expect(takeReply([`${TOKEN}a`, `${TOKEN}x`, TOKEN], ["a", "b"]).seen).toEqual([BigInt(TOKEN), null]);
    expect(takeReply(`${TOKEN}x`, ["a"]).seen).toEqual([null]);
  });

  test("of another shape is no answer", () => {
    for (const reply of ["QUEUED", "5", "", null, 1, [], [`${TOKEN}a`], [`${TOKEN}a`, "now"]]) {
      expect(() => takeReply(reply, ["a"])).toThrow(indeterminate);
    }
  });

  test("says who holds, unless only acquire can tell: lapsed, or longer than its ttl", () => {
    const seen = (leftMs: number) => takeReply([[HELD, leftMs], TOKEN], ["a"]).seen[0];
    expect(seen(900)).toMatchObject({ owner: { host: "h" }, ahead: null });
    expect([seen(0), seen(-5), seen(3_600_000)]).toEqual([null, null, null]);
    expect(takeReply([[HELD, 900], TOKEN], ["b"]).seen).toEqual([BigInt(TOKEN)]); // sent twice by the client
    expect(takeReply(["", TOKEN], ["a"]).seen).toEqual([null]);
  });
});

test("a grant of acquire or beat is believed only for the id that it names", () => {
  expect(verdict([1, TOKEN, "a"], "a")).toEqual({ kind: "granted", token: BigInt(TOKEN) });
  expect(() => verdict([1, TOKEN, "b"], "a")).toThrow(indeterminate);
  expect(() => verdict([1, TOKEN], "a")).toThrow(indeterminate);
});
