/** What a value may be, and that it comes back as it went. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { IndeterminateError, InvalidArgumentError } from "../src/errors.js";
import { decodeValue, encodeValue } from "../src/values.js";

test("whatever JSON carries comes back unchanged", () => {
  const json = fc
    .jsonValue({ noUnicodeString: false })
    .filter((value) => JSON.stringify(value).isWellFormed());
  fc.assert(
    fc.property(json, (value) => {
      const once: unknown = JSON.parse(JSON.stringify(value)); // -0 is 0
      expect(decodeValue(encodeValue("value", once))).toEqual(once);
    }),
    { seed: 1 },
  );
});

test("bytes come back as bytes, a part of a larger buffer too", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(decodeValue(encodeValue("value", bytes))).toEqual(bytes);
    }),
    { seed: 1 },
  );
  const part = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
  expect(decodeValue(encodeValue("value", part))).toEqual(new Uint8Array([2, 3]));
  expect(decodeValue(encodeValue("value", Buffer.from("hi")))).toEqual(new Uint8Array([104, 105]));
});

test("a value that is nested too deeply for JSON.stringify is refused as an argument", () => {
  let value: unknown = null;
  for (let depth = 0; depth < 20_000; depth += 1) value = [value];
  expect(() => encodeValue("value", value)).toThrow(InvalidArgumentError);
});

test("what JSON would lose or change is refused, with its place", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const refused: [unknown, RegExp][] = [
    [undefined, /value is undefined/],
    [{ a: [1, undefined] }, /value\.a\[1\] is undefined/],
    [Number.NaN, /is NaN/],
    [[Infinity], /value\[0\] is Infinity/],
    [1n, /is a bigint/],
    [() => 1, /is a function/],
    [new Date(0), /class Date/],
    [new Map(), /class Map/],
    [{ at: new Uint8Array(1) }, /value\.at is an object of class Uint8Array/],
    ["\ud800", /not well-formed/],
    [circle, /value\.self contains itself/],
    [{ toJSON: () => 1 }, /class Object/],
  ];
  for (const [value, problem] of refused) {
    expect(() => encodeValue("value", value)).toThrow(InvalidArgumentError);
    expect(() => encodeValue("value", value)).toThrow(problem);
  }
  const twice = { a: 1 };
  expect(decodeValue(encodeValue("value", [twice, twice]))).toEqual([{ a: 1 }, { a: 1 }]);
});

test("the limit is 1 MiB as stored", () => {
  expect(encodeValue("value", "x".repeat(1_048_573))).toHaveLength(1_048_576);
  expect(() => encodeValue("value", "x".repeat(1_048_574))).toThrow(/at most 1 MiB/);
  expect(() => encodeValue("data", "é".repeat(600_000))).toThrow(/^data must have at most 1 MiB/);
});

test("a value has at most 1000 levels, so that nobody's stack overflows", () => {
  const nested = (levels: number): unknown => (levels === 0 ? 0 : [nested(levels - 1)]);
  expect(decodeValue(encodeValue("value", nested(1_000)))).toEqual(nested(1_000));
  expect(() => encodeValue("value", nested(1_001))).toThrow(InvalidArgumentError);
  expect(() => encodeValue("value", nested(5_000))).toThrow(/^value must have at most 1000 levels/);
  const foreign = `j${"[".repeat(5_000)}0${"]".repeat(5_000)}`;
  expect(() => decodeValue(foreign)).toThrow(IndeterminateError);
  const text = ['"[\\\\', "[{".repeat(3_000)];
  expect(decodeValue(encodeValue("value", text))).toEqual(text);
});

test("text of another program is no value", () => {
  for (const text of ["", "x", "j{", "hello"]) expect(() => decodeValue(text)).toThrow(IndeterminateError);
});
