/** A client that was closed, or gave up, and is connected again: what waited for its server goes on. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

let server: EmbeddedValkey;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
});

afterAll(() => server.stop());

const CLIENTS = [
  {
    title: "ioredis",
    make: () => {
      const client = new Redis(server.url);
      client.on("error", () => {});
      return { client, close: () => client.disconnect(), isClosed: () => client.status === "end" };
    },
  },
  {
    title: "node-redis",
    make: () => {
      const client = createClient({ url: server.url });
      client.on("error", () => {});
      const first = client.connect();
      return { client, first, close: () => client.destroy(), isClosed: () => !client.isOpen };
    },
  },
];

test.each(CLIENTS)(
  "a consumer over $title goes on when its closed client is connected again; an event tells the outage, and no process ends",
  async ({ make }) => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    const outages: unknown[] = [];
    const told = (event: unknown): void => void outages.push(event);
    process.on("unhandledRejection", note);
    subscribe("holdfast:queue:outage", told);
    onTestFinished(() => {
      process.off("unhandledRejection", note);
      unsubscribe("holdfast:queue:outage", told);
    });
    const { client, close, isClosed, ...rest } = make();
    await ("first" in rest ? rest.first : null);
    const hf = new Holdfast(client);
    const queue = hf.queue<string>(`returns ${client.constructor.name}`);
    const seen: string[] = [];
    queue.consume(({ body }) => void seen.push(body));
    await queue.push("before");
    await until("the first is handled", () => seen.length === 1);
    close();
    await until("it is closed", isClosed);
    await until("the outage is told", () => outages.length === 1);
    await client.connect();
    await queue.push("after");
    await until("the second is handled", () => seen.length === 2);
    expect(seen).toEqual(["before", "after"]);
    await hf.close();
    close();
    expect(unhandled).toEqual([]);
  },
);
