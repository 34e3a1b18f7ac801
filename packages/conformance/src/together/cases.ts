/** Every case that is about all nouns of one Holdfast at once. */
import assert from "node:assert/strict";
import { ClosedError, type Holdfast } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { until } from "../wait.js";
import { messageCases } from "./messages.js";
import { waitsOf } from "./waits.js";

/** Waits of every noun, streams among them, which nothing ends. */
function endlessOf(holdfast: Holdfast, name: string): readonly (() => Promise<unknown>)[] {
  return [
    ...waitsOf(holdfast, name),
    () => holdfast.signals.any([name, `${name}-2`], { wait: Number.POSITIVE_INFINITY }),
    async () => {
      for await (const _ of holdfast.record(name).watch());
    },
    async () => {
      for await (const _ of holdfast.election(name).observe());
    },
  ];
}

export const togetherCases: readonly NounCase[] = [
  ...messageCases,
  {
    name: "a Holdfast that is closed ends the waits of every noun, and leaves no timer, no subscription and no key that stays for ever",
    covers: [],
    needs: [],
    async run(lab) {
      const clock = lab.manualClock();
      const [other, holdfast] = [await lab.holdfast(), await lab.holdfast({ clock })];
      const name = lab.name();
      const held = await Promise.all(
        [name, `election:${name}`, `once:${name}`].map((each) => other.mutex(each).acquire()),
      );
      const channels = async () =>
        (await lab.command("PUBSUB", "CHANNELS", `${lab.prefix}:*`)) as readonly string[];
      const ends = endlessOf(holdfast, name).map((wait) => rejection(wait()));
      await until("it waits at the barrier", async () => (await other.barrier(name, 2).get()).arrived === 1);
      await until("the process listens", async () => (await channels()).length >= LEAST_CHANNELS);
      await lab.settled(holdfast);
      await holdfast.close();
      for (const [place, error] of (await Promise.all(ends)).entries())
        assert.ok(error instanceof ClosedError, `wait ${place}: ${String(error)}`);
      await until("no timer is left", () => clock.pendingTimers === 0); // the last one ends with its turn of the event loop
      for (const lease of held) assert.equal(await lease.release(), "released");
      await other.close();
      await until("nobody listens", async () => (await channels()).length === 0);
      const keys = (await lab.command("KEYS", `${lab.prefix}:*`)) as readonly string[];
      for (const key of keys) assert.notEqual(await lab.command("PTTL", key), -1, key);
    },
  },
];

/** The inbox, two signals, and one for the event, the latch, the result of a message, and the record that is watched. */
const LEAST_CHANNELS = 7;
