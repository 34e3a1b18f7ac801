/** Signals on the engine itself: Holdfasts that end with their test, and how a test knows that a wait has begun. */

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast, type HoldfastOptions } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";

let server: EmbeddedValkey;
export let redis: Redis;
let opened: Holdfast[] = [];
/** A name of this test. */
export let name: string;
let count = 0;

/** Called by each file of tests: what a module does when it is loaded is done for the first file of a process only. */
export function onEngine(): void {
  beforeAll(async () => {
    server = await EmbeddedValkey.start();
    redis = new Redis(server.url);
  });

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  beforeEach(() => {
    name = `signal-${count++}`;
  });

  afterEach(async () => {
    await Promise.all(opened.map((hf) => hf.close()));
    opened = [];
  });
}

export function open(options: HoldfastOptions = {}, url: string = server.url): Holdfast {
  const hf = new Holdfast(url, { ...UNHURRIED, ...options });
  opened.push(hf);
  return hf;
}

/** The next event for which `matches` is true. */
export function told<Payload>(channel: string, matches: (payload: Payload) => boolean): Promise<Payload> {
  return new Promise((resolve) => {
    const heard = (message: unknown): void => {
      if (!matches(message as Payload)) return;
      unsubscribe(channel, heard);
      resolve(message as Payload);
    };
    subscribe(channel, heard);
  });
}

/** Resolves when a wait for these names has begun. */
export async function begun(...names: string[]): Promise<void> {
  type Waiting = { readonly signals: readonly string[] };
  await told<Waiting>("holdfast:signal:waiting", ({ signals }) => signals.join() === names.join());
}

/** Begins a wait, and resolves when it has begun. */
export async function started<Value>(
  names: string[],
  wait: () => Promise<Value>,
): Promise<{ wait: Promise<Value> }> {
  const [told, waiting] = [begun(...names), wait()];
  waiting.catch(() => {});
  await told;
  return { wait: waiting };
}

export const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause();
}
