/** What the rules of records find in histories made by hand, and what they accept. */
import { expect, it } from "vitest";
import type { Operation } from "../../src/history/operation.ts";
import {
  checkConditions,
  checkLinks,
  checkVersions,
  type RecordWritten,
} from "../../src/history/record-rules.ts";

let seq = 0;

function write(invMs: number, retMs: number, value: Partial<RecordWritten>, more = {}): Operation {
  const written: RecordWritten = { version: "1", expected: null, link: null, ...value };
  return {
    process: "p",
    seq: seq++,
    f: "write",
    key: "r",
    invMs,
    retMs,
    type: "ok",
    value: written,
    ...more,
  };
}

const namesOf = (operations: readonly Operation[]) =>
  [checkVersions, checkConditions, checkLinks].flatMap((check) =>
    check(operations).map(({ property }) => property),
  );

it("versions that rise are in order, also of writes that overlap, and of two records", () => {
  expect(
    namesOf([
      write(0, 10, { version: "5" }),
      write(11, 40, { version: "8" }),
      write(12, 30, { version: "7" }),
      write(50, 60, { version: "5" }, { key: "other" }),
      write(61, 62, { version: "1" }, { type: "info" }),
      write(63, 64, { version: null }),
    ]),
  ).toEqual([]);
});

it("a version that falls, or is there twice, is found", () => {
  expect(namesOf([write(0, 10, { version: "5" }), write(11, 12, { version: "4" })])).toEqual(["V1"]);
  expect(namesOf([write(0, 10, { version: "5" }), write(5, 12, { version: "5" })])).toEqual(["V1"]);
  const long = [
    write(0, 100, { version: "3" }),
    write(1, 2, { version: "9" }),
    write(50, 60, { version: "4" }),
  ];
  expect(namesOf(long)).toEqual(["V1"]);
});

it("a write between another and the version that it named is found", () => {
  const between = [write(0, 1, { version: "5" }), write(2, 4, { version: "6" })];
  expect(namesOf([...between, write(2, 5, { version: "7", expected: "6" })])).toEqual([]);
  expect(namesOf([...between, write(2, 5, { version: "7", expected: "5" })])).toEqual(["V2"]);
  expect(namesOf([...between, write(2, 5, { version: "7", expected: "0" })])).toEqual([]); // after a delete
});

it("two values that follow from one are found", () => {
  const link = (id: string, after: string | null) => ({ link: { id, after }, version: null });
  expect(namesOf([write(0, 1, link("a", null)), write(2, 3, link("b", "a"))])).toEqual([]);
  expect(namesOf([write(0, 1, link("a", null)), write(2, 3, link("b", null))])).toEqual(["V3"]);
});
