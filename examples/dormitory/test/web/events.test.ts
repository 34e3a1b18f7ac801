import { until } from "@holdfast/conformance";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startWebServer } from "../../src/web/listen.js";
import { MemoryDormitory } from "./memory-dormitory.js";
import { type Engine, START_MS, startEngine } from "./world.js";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

async function listening() {
  const memory = new MemoryDormitory(() => START_MS);
  memory.addStudent("s1", "Li Wei", "b");
  memory.waiting = {
    ...{ state: "waiting", way: "lanes", ticket: "t1", position: 2, ahead: 1, etaMs: null },
    ...{ outcome: null, places: [], teamSize: 1, version: "5" },
  };
  const server = await startWebServer({
    dormitory: memory.service(),
    upkeep: { check: fail, repair: fail, archive: fail, log: fail },
    hf: engine.hf,
    secret: "a secret of at least thirty-two characters",
    port: 0,
    log: () => {},
  });
  const url = `http://127.0.0.1:${server.port}`;
  const body = new URLSearchParams({ number: "s1", password: "password of s1" });
  const signedIn = await fetch(`${url}/login`, {
    ...{ method: "POST", body, redirect: "manual" },
    headers: { origin: url },
  });
  const cookie = signedIn.headers.getSetCookie().map((each) => each.split(";")[0]);
  const events = () => fetch(`${url}/events`, { headers: { cookie: cookie.join("; ") } });
  return { server, events, memory };
}

function fail(): never {
  throw new Error("not a part of this test");
}

async function readTo(reader: ReadableStreamDefaultReader<string> | undefined, end: string): Promise<string> {
  let text = "";
  while (!text.includes(end)) text += (await reader?.read())?.value ?? "";
  return text;
}

it("a stream has the ticket in the words of the reader, and ends before the server does", async () => {
  const { server, events } = await listening();
  const response = await events();
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const text = await readTo(reader, "event: ticket");
  expect(text).toContain("You are number 2 in the queue.");
  expect(text).toContain("id: 5\n");
  await server.stop();
  await until("the end of the stream", async () => (await reader?.read())?.done);
});

it("a stream says that the store does not answer, and then the place again", async () => {
  const { server, events, memory } = await listening();
  if (memory.waiting) memory.afterwards = [{ state: "away" }, { ...memory.waiting, version: "6" }];
  const reader = (await events()).body?.pipeThrough(new TextDecoderStream()).getReader();
  const text = await readTo(reader, "id: 6\n");
  expect(text.match(/(?<=event: )\w+/g)).toEqual(["hello", "ticket", "away", "ticket"]);
  await server.stop();
});

it("a student has six streams at a server at most, and may open another when one has ended", async () => {
  const { server, events } = await listening();
  const opened = await Promise.all(Array.from({ length: 6 }, events));
  expect(opened.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  expect((await events()).status).toBe(503);
  await opened[0]?.body?.cancel();
  await until("the place of the one that ended", async () => (await events()).status === 200);
  await server.stop();
});
