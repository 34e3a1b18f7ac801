/** Requests that no browser sends: whoever is denied or over the limit stays out, and the server goes on. */

import { once } from "node:events";
import { connect } from "node:net";
import { UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import type { Answer } from "holdfast/middleware";
import { afterAll, beforeAll, expect, test } from "vitest";
import { frameworks } from "./servers.js";

let valkey: EmbeddedValkey;
let hf: Holdfast;
let names = 0;

beforeAll(async () => {
  valkey = await EmbeddedValkey.start();
  hf = new Holdfast(valkey.url, UNHURRIED);
});

afterAll(async () => {
  await hf.close();
  await valkey.stop();
});

const FORWARDED = [
  "203.0.113.7",
  "unknown",
  "::1%eth0",
  "fe80::1%25eth0",
  "[::1]:99",
  "1.2.3.4::",
  ",,,,",
  "\u00e4\u00ff",
  "203.0.113.7, ::ffff:203.0.113.8",
  "10.0.0.1,".repeat(800),
];
const WHOLE = [
  "HEAD / HTTP/1.1\r\nhost: x\r\n\r\n",
  "OPTIONS / HTTP/1.1\r\nhost: x\r\n\r\n",
  "GET /%F0%9F%98%80 HTTP/1.1\r\nhost: x\r\n\r\n",
  "GET /% HTTP/1.1\r\nhost: x\r\n\r\n",
  "GET http://elsewhere/ HTTP/1.1\r\nhost: x\r\n\r\n",
  "PROPFIND / HTTP/1.1\r\nhost: x\r\n\r\n",
  "POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\nabc",
  "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
  "GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
  `GET / HTTP/1.1\r\nhost: x\r\nx-large: ${"b".repeat(15_000)}\r\n\r\n`,
  "GET / HTTP/1.1\r\nhost: x\r\n\r\n".repeat(20),
  ...FORWARDED.map(
    (by) => `GET / HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${by}\r\nx-forwarded-for: ${by}\r\n\r\n`,
  ),
];
const UNFINISHED = [
  "GET / HTTP/1.1\r\nhost: x\r\n",
  "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\nabc",
  "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel",
  "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
  `GET / HTTP/1.1\r\nhost: x\r\nx-large: ${"b".repeat(40_000)}\r\n\r\n`,
];

async function send(url: string, text: string, end: "destroy" | "end" | "resetAndDestroy"): Promise<void> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {}).resume();
  await once(socket, "connect");
  socket.write(text, "latin1");
  await new Promise((resolve) => setTimeout(resolve, 5));
  socket[end]();
}

test.each(frameworks)("%s", async (_, start) => {
  const penalties = [{ kind: "busy", for: "1m" }] as const;
  const guard = hf.guard(`g${++names}`, { hits: 1, per: "1h", penalties, deny: ["127.0.0.1"] });
  const limits = hf.limit(`l${names}`, { max: 0, per: "1h" });
  const echo = (answer: Answer) => ({ ...answer, headers: { ...answer.headers, "x-echo": "\ud83d\ude00" } });
  const stacks = [
    [{ guard }],
    [{ limits, trust: 2 }],
    [{ guard, answer: echo }],
    [{ limits, count: "failures" }],
  ];
  for (const [at, stack] of stacks.entries()) {
    const running = await start(hf, ...(stack as Parameters<typeof start>[1][]));
    for (const end of ["destroy", "end", "resetAndDestroy"] as const)
      await Promise.all([...WHOLE, ...UNFINISHED].map((text) => send(running.url, text, end)));
    expect((await fetch(running.url)).status).toBe([403, 429, 500, 429][at]);
    expect([running.entered() > 0, running.handled()]).toEqual([true, 0]);
    await running.stop();
  }
});
