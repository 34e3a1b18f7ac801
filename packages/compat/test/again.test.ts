/** What a call leaves behind when it is made again and again: no listener, no lock that nobody can release. */
import { getEventListeners } from "node:events";
import type { Redis } from "ioredis";
import { expect, test } from "vitest";
import { Redlock } from "../src/redlock/index.ts";
import { Redlock as Redlock4 } from "../src/redlock-4/index.ts";
import { closeHoldfasts, holdfastOf } from "../src/shared-holdfast.ts";
import { onEachServer } from "./place.ts";

const DURATION = 10_000;
const ROUNDS = 12; // Node warns of the eleventh listener

onEachServer((place) => {
  test("a lock of redlock 5 that is extended leaves no listener, and its last Lock is told of the end", async () => {
    const { client, clock } = place().clocked();
    let lock = await new Redlock([client]).acquire([place().name()], DURATION);
    const { signal } = lock;
    const before = getEventListeners(signal, "abort").length;
    for (let round = 0; round < ROUNDS; round += 1) lock = await lock.extend(DURATION);
    expect(getEventListeners(signal, "abort")).toHaveLength(before);
    clock.advance(DURATION);
    expect([lock.signal === signal, signal.aborted, lock.expiration]).toEqual([true, true, 0]);
  });

  test("a lock of redlock 4 that is extended leaves no listener, and is told of the end", async () => {
    const { client, clock } = place().clocked();
    const lock = await new Redlock4([client]).lock(place().name(), DURATION);
    const before = getEventListeners(lock.signal, "abort").length;
    for (let round = 0; round < ROUNDS; round += 1) expect(await lock.extend(DURATION)).toBe(lock);
    expect(getEventListeners(lock.signal, "abort")).toHaveLength(before);
    clock.advance(DURATION);
    expect([lock.signal.aborted, lock.expiration]).toEqual([true, 0]);
  });

  test("a client has one listener, however often what stands on it is closed and made again", async () => {
    const clients = [place().client(), place().client()];
    const count = (): number => clients.reduce((sum, each) => sum + each.listenerCount("end"), 0);
    const again = async (): Promise<void> => {
      new Redlock(clients);
      holdfastOf(clients[0] as Redis);
      await closeHoldfasts(...clients);
    };
    await again();
    const before = count();
    for (let round = 0; round < ROUNDS; round += 1) await again();
    expect(count()).toBe(before);
  });
});
