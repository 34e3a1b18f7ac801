/** The engine itself, for tests of scripts: one server for each file of tests, and a new name for each test. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { readMessage } from "../src/redis/message.js";

let server: EmbeddedValkey;
export let redis: Redis;
let inbox: Redis;
let messages: string[];
let strays: string[];
let count = 0;

/** Called by each file of tests: what a module does when it is loaded is done for the first file of a process only. */
export function onEngine(begin: (name: string) => void): void {
  beforeAll(async () => {
    server = await EmbeddedValkey.start();
    redis = new Redis(server.url);
    inbox = redis.duplicate();
    await inbox.subscribe("inbox");
    await inbox.psubscribe("nobody*");
    inbox.on("pmessage", (_pattern, _channel, message) => strays.push(readMessage(message)?.text ?? ""));
    inbox.on("message", (_channel, message) => messages.push(readMessage(message)?.text ?? ""));
  });

  afterAll(async () => {
    redis.disconnect();
    inbox.disconnect();
    await server.stop();
  });

  beforeEach(async () => {
    await inbox.ping(); // what came for the test before
    messages = [];
    strays = [];
    begin(`name-${count++}`);
  });
}

/** Messages travel on another connection than replies: what was published before a PING came before its PONG. */
export async function heard(): Promise<string[]> {
  await inbox.ping();
  return messages;
}

/** What went to an inbox `nobody…` for which nobody subscribed here. A pattern hears it, as a replica does. */
export async function overheard(): Promise<string[]> {
  await inbox.ping();
  return strays;
}

/** Does something while the engine takes no more data. */
export async function whileFull<Result>(work: () => Promise<Result>): Promise<Result> {
  await redis.config("SET", "maxmemory", "1");
  try {
    return await work();
  } finally {
    await redis.config("SET", "maxmemory", "0");
  }
}
