/** A connection of node-redis 5 that breaks in the very turn of the event loop in which a command was sent. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { createClient } from "redis";
import { createClient as createClient4 } from "redis4";
import { createClient as createClient5 } from "redis5";
import { expect, test } from "vitest";

/** Enough for a call to reach its client; all of them are over before the turn is. */
const HOPS = 20;

test.each([
  ["node-redis 6", (url: string) => createClient({ url })],
  ["node-redis 5", (url: string) => createClient5({ url })],
  ["node-redis 4", (url: string) => createClient4({ url })],
] as const)(
  "%s: a call of the turn in which the connection broke is answered, and those after it",
  async (_, make) => {
    const sockets: Socket[] = [];
    const note = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
    const valkey = await EmbeddedValkey.start();
    subscribe("net.client.socket", note);
    const client = make(valkey.url);
    client.on("error", () => {});
    await client.connect();
    unsubscribe("net.client.socket", note);
    const holdfast = new Holdfast(client, UNHURRIED);
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warned);
    try {
      const mutex = holdfast.mutex("name");
      await (await mutex.acquire()).release();
      await Promise.all(Array.from({ length: 50 }, (_, n) => holdfast.record(`r${n}`).get()));
      expect(warnings).toEqual([]);
      const acquired = mutex.acquire({ wait: "1m" });
      for (let hop = 0; hop < HOPS; hop += 1) await new Promise<void>((resolve) => process.nextTick(resolve));
      sockets.at(-1)?.destroy(new Error("broken in this turn"));
      await expect((await acquired).release()).resolves.toBe("released");
      expect(client.isReady).toBe(true);
    } finally {
      process.off("warning", warned);
      await holdfast.close();
      if ("destroy" in client) client.destroy();
      else await client.disconnect();
      await valkey.stop();
    }
  },
);
