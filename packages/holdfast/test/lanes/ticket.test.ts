/** Tickets come back from strangers: which of them are one, and which are refused. */
import { expect, test } from "vitest";
import { InvalidArgumentError } from "../../src/errors.js";
import { formatTicket, parseTicket } from "../../src/lanes/ticket.js";

const NUMBER = 1_764_000_000_000_123;

test.each([
  "order-7",
  "a b",
  "50% @ {x}",
  "Zürich/Straße",
  "學生",
  "🎓",
  "it's (a) *lane*!~",
  "a\u0000b\nc",
  "x".repeat(512),
  "學".repeat(512),
])("a ticket of lane %j reads back, and fits into a URL as it is", (lane) => {
  const text = formatTicket({ lane, number: NUMBER });
  expect(parseTicket(text)).toEqual({ lane, number: NUMBER });
  expect(text).toMatch(/^[\x21-\x7e]+$/);
  expect(new URL(`http://h/t/${text}`).pathname).toBe(`/t/${text}`);
  expect(new URL(`http://h/?t=${text}`).searchParams.get("t")).toBe(decodeURIComponent(text));
});

test.each([
  ["nothing", ""],
  ["no lane", "1764000000000123@"],
  ["no number", "@a"],
  ["no sign", "1764000000000123a"],
  ["a leading zero", "01764000000000123@a"],
  ["a number that is no safe integer", "9999999999999999@a"],
  ["more than 16 digits", "17640000000001234@a"],
  ["a minus", "-1@a"],
  ["an exponent", "1e15@a"],
  ["a blank", "1764000000000123@a b"],
  ["a blank before", " 1764000000000123@a"],
  ["a line after", "1764000000000123@a\n"],
  ["NUL", "1764000000000123@a\u0000"],
  ["another spelling of a", "1764000000000123@%61"],
  ["lower-case hex", "1764000000000123@%c3%9f"],
  ["half a character", "1764000000000123@%C3"],
  ["a lone surrogate", "1764000000000123@%ED%A0%80"],
  ["no hex", "1764000000000123@%zz"],
  ["a brace", "1764000000000123@{a}"],
  ["a lane that is too long", `1764000000000123@${"x".repeat(513)}`],
  ["megabytes", `1764000000000123@${"%".repeat(5_000_000)}`],
])("refuses %s", (_what, text) => {
  expect(() => parseTicket(text)).toThrow(InvalidArgumentError);
});

test.each([[undefined], [null], [7], [{ lane: "a", number: 1 }], [["1@a"]]])("refuses %s", (value) => {
  expect(() => parseTicket(value)).toThrow(InvalidArgumentError);
});

test("an error does not repeat what a stranger sent", () => {
  const hostile = "<script>alert(1)</script>";
  expect(() => parseTicket(hostile)).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining("script") }),
  );
});
