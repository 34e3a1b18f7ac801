/** A header of proxies that nobody trusts: told on the channel, and once as a warning of the process. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { rateLimit } from "holdfast/middleware/fetch";
import { afterAll, expect, test } from "vitest";

const server = await EmbeddedValkey.start();
const hf = new Holdfast(server.url);
const limits = hf.limit("tries", { max: 100, per: "1m" });
afterAll(async () => {
  await hf.close();
  await server.stop();
});

const forwarded = () => new Request("http://server/", { headers: { "x-forwarded-for": "192.0.2.1" } });
const handlerWith = (trust?: false | number) =>
  rateLimit(hf, { limits, trust, address: () => "10.0.0.1" })(async () => new Response("in"));

test("once in a process, and not where somebody has said what to trust", async () => {
  const [warnings, told]: [Error[], unknown[]] = [[], []];
  const [warned, hear] = [
    (warning: Error) => warnings.push(warning),
    (message: unknown) => told.push(message),
  ];
  process.on("warning", warned);
  subscribe("holdfast:middleware:misuse", hear);
  for (const trust of [false, 1] as const) await handlerWith(trust)(forwarded());
  await handlerWith()(new Request("http://server/"));
  await new Promise(setImmediate);
  expect([warnings, told]).toEqual([[], []]);
  for (const handler of [handlerWith(), handlerWith()]) {
    await handler(forwarded());
    await handler(forwarded());
  }
  await new Promise(setImmediate);
  process.off("warning", warned);
  unsubscribe("holdfast:middleware:misuse", hear);
  expect(warnings).toMatchObject([
    {
      code: "HOLDFAST_FORWARDED_IGNORED",
      message: expect.stringMatching(
        /`trust`.*`trust: false`.*`trust proxy` of Express.*`trustProxy` of Fastify/,
      ),
    },
  ]);
  expect(told).toMatchObject([{ problem: "forwarded-ignored" }, { problem: "forwarded-ignored" }]);
});
