/** An iterator that is fed from outside. */
import { expect, test } from "vitest";
import { Stream } from "../src/stream.js";

test("values come in order; beyond the capacity the oldest are displaced and counted", async () => {
  const stream = new Stream<number>(2, () => {});
  const first = stream.next();
  for (const value of [1, 2, 3, 4]) stream.push(value);
  expect(await first).toEqual({ done: false, value: 1 });
  expect(stream.dropped).toBe(1);
  expect(stream.take()).toEqual({ value: 3 });
  stream.end();
  stream.push(5);
  expect(await stream.next()).toEqual({ done: false, value: 4 });
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test("an error comes once, after what was kept, and the feed is told once", async () => {
  let returns = 0;
  const stream = new Stream<number>(5, () => {
    returns += 1;
  });
  stream.push(1);
  stream.fail(new Error("gone"));
  stream.fail(new Error("again"));
  expect((await stream.next()).value).toBe(1);
  await expect(stream.next()).rejects.toThrow("gone");
  expect((await stream.next()).done).toBe(true);
  await stream.return();
  expect(returns).toBe(1);
});

test("an error reaches one of those who wait, and ends the others", async () => {
  const stream = new Stream<number>(1, () => {});
  const waiting = [stream.next(), stream.next()];
  stream.fail(new Error("gone"));
  await expect(waiting[0]).rejects.toThrow("gone");
  expect((await waiting[1])?.done).toBe(true);
  expect((await stream.next()).done).toBe(true);
});

test("a reader that leaves its loop ends the feed", async () => {
  let returns = 0;
  const stream = new Stream<number>(5, () => {
    returns += 1;
  });
  stream.push(1);
  stream.push(2);
  for await (const value of stream) {
    expect(value).toBe(1);
    break;
  }
  expect(returns).toBe(1);
  expect(stream.take()).toBeNull();
});
