/** The channels of the events, which Node collects when nobody refers to them. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { publish } from "../src/telemetry/events.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test("whoever subscribes again after a collection hears the events", async () => {
  const name = "holdfast:signal:passed-on" as const;
  const heard: unknown[] = [];
  const before = (): void => {};
  const after = (message: unknown): void => void heard.push(message);
  subscribe(name, before);
  unsubscribe(name, before);
  await sleep(1);
  collect();
  publish(name, () => ({ signal: "before" }));
  await sleep(5);
  collect();
  await sleep(5);
  subscribe(name, after);
  publish(name, () => ({ signal: "after" }));
  unsubscribe(name, after);
  expect(heard).toEqual([{ signal: "after" }]);
});
