/** Lanes on the engine itself: Holdfasts that end with their test. */
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
    name = `lanes-${count++}`;
  });

  afterEach(async () => {
    await Promise.all(opened.map((hf) => hf.close()));
    opened = [];
  });
}

export function open(options: HoldfastOptions = {}): Holdfast {
  const hf = new Holdfast(server.url, { ...UNHURRIED, ...options });
  opened.push(hf);
  return hf;
}

/** All that is in Redis of the lanes of this test. */
export async function keysLeft(): Promise<string[]> {
  return (await redis.keys(`*{${name}}*`)).sort();
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
