/** A cable between two network namespaces: what it loses is lost in silence, and comes again when it is whole. */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { launch, needing, program as programOf } from "@holdfast/conformance";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { NetworkLink } from "../../src/chaos/link.ts";
import { type ChaosServer, startProcess } from "../../src/chaos/server.ts";

const program = programOf("redis-server");
const laid = NetworkLink.lay(`hft${process.pid.toString(36)}`);
const link = typeof laid === "string" ? null : laid;

/** Sends a number in each INCRBY, ten times a second, and says what comes back. */
const client = (host: string, port: number) => `
  const socket = require("node:net").connect({ host: "${host}", port: ${port} });
  socket.on("data", (bytes) => process.stdout.write(bytes));
  setInterval(() => socket.write("INCRBY sum 1\\r\\n"), 50);
`;

needing(describe, "redis-server")("a link", () => {
  let server: ChaosServer;
  let child: ChildProcess;
  let answers = 0;
  const waiting: (() => void)[] = [];
  const sum = async () => Number(await server.command("GET", "sum"));
  /** Of the next answer. */
  const answer = () => new Promise<void>((resolve) => waiting.push(resolve));
  const silentFor = async (ms: number) => {
    const before = answers;
    await new Promise((resolve) => setTimeout(resolve, ms));
    return answers - before <= 1; // one may have been under way
  };

  beforeEach(({ skip }) => skip(link === null, String(laid)));

  beforeAll(async () => {
    if (link === null) return;
    server = await startProcess({ program, clock: null, link });
    const words = link?.at("worker") ?? [];
    const code = client(link?.serverIp ?? "", server.process?.port ?? 0);
    child = launch(words[0] as string, [...words.slice(1), process.execPath, "-e", code]);
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", () => {
      answers += 1;
      for (const resolve of waiting.splice(0)) resolve();
    });
    await answer();
  });

  afterAll(async () => {
    if (link === null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
    await server.stop();
    link?.remove();
  });

  it("loses replies: what was asked is carried out, and nobody hears of it until it is whole", async () => {
    link?.lose("replies");
    const before = await sum();
    expect(await silentFor(400)).toBe(true);
    expect(await sum()).toBeGreaterThan(before);
    link?.heal();
    await answer();
  });

  it("loses requests: nothing is carried out, until all of it is", async () => {
    link?.lose("requests");
    await silentFor(50);
    const before = await sum();
    expect(await silentFor(400)).toBe(true);
    expect(await sum()).toBe(before);
    link?.heal();
    await answer();
    expect(await sum()).toBeGreaterThan(before);
  });
});
