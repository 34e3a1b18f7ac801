import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Answer } from "./visitor.js";
import { type Engine, openWorld, START_MS, startEngine } from "./world.js";

let engine: Engine;
let count = 0;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

async function signedIn(language = "en") {
  count += 1;
  const place = await openWorld(engine, `c${count}-`);
  const visitor = place.visitor({ "accept-language": language });
  await visitor.signIn("s1");
  return { place, visitor };
}

/** Eleven requests at once, one more than a second has, and again where a busy machine needed longer than a second. */
async function storm(ask: () => Promise<Answer>, isPunished: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answers = await Promise.all(Array.from({ length: 11 }, ask));
    const found = answers.find(isPunished);
    if (found) return found;
  }
}

const isPostponed = ({ text }: Answer): boolean => text.includes("your start is");

describe("the countdown", () => {
  it.each(["en", "zh-CN"])("has at most 15 kB, and needs no other request (%s)", async (language) => {
    const { visitor } = await signedIn(language);
    const { text } = await visitor.get("/countdown");
    expect(Buffer.byteLength(text)).toBeLessThan(15_000);
    expect(text).not.toMatch(/<(?:script|img|iframe)[^>]+src=|rel="(?:stylesheet|preload|modulepreload)"/);
    expect(text).toMatch(/<link rel="icon" href="data:/);
  });

  it("asks nothing of the service, so it is there without Redis and without the database", async () => {
    const { place, visitor } = await signedIn();
    place.cut("nothing");
    const { status, text } = await visitor.get("/countdown");
    expect(status).toBe(200);
    expect(text).toContain(`data-start="${START_MS}"`);
  });

  it("goes by the server's clock", async () => {
    const { place, visitor } = await signedIn();
    expect((await visitor.get("/countdown")).text).toMatch(
      new RegExp(`data-now="${place.nowMs}" data-day="d">00:01:00<`),
    );
    expect((await visitor.get("/countdown")).text).toMatch(/data-at-start="true" disabled/);
    place.nowMs = START_MS;
    expect((await visitor.get("/countdown")).text).not.toMatch(/data-at-start="true" disabled/);
  });

  it("follows an edit of the batch", async () => {
    const { place, visitor } = await signedIn();
    const [batch] = place.memory.batches.values();
    if (batch) place.memory.batches.set(batch.id, { ...batch, startsAtMs: START_MS + 90_000 });
    await place.refresh();
    expect((await visitor.get("/countdown")).text).toContain(`data-start="${START_MS + 90_000}"`);
  });
});

describe("the guard", () => {
  it("postpones the start of a student who asks more than ten times in a second, and says so", async () => {
    const { place, visitor } = await signedIn();
    const page = await storm(() => visitor.get("/countdown"), isPostponed);
    expect(page.text).toContain(`data-start="${START_MS + 15_000}"`);
    expect(page.text).toContain("more than 10 times in a second, so your start is 15 seconds later");
    place.nowMs = START_MS + 1_000;
    const early = await visitor.post("/grab", {}, { accept: "application/json" });
    expect(early.status).toBe(429);
    expect(JSON.parse(early.text)).toEqual({ error: "postponed", retryAfterMs: 14_000 });
    expect(place.memory.requestIds).toEqual([]);
    place.nowMs = START_MS + 15_000;
    expect((await visitor.post("/grab", {}, { accept: "application/json" })).status).toBe(200);
  });

  it("counts a regret as well", async () => {
    const { place, visitor } = await signedIn();
    place.nowMs = START_MS + 200_000;
    const page = await storm(
      () => visitor.post("/regret"),
      ({ status }) => status === 429,
    );
    expect(page.text).toContain("More than 10 requests came from you within one second");
  });

  it("closes the pages for 15 seconds once the batch has begun, and says why and until when", async () => {
    const { place, visitor } = await signedIn();
    place.nowMs = START_MS + 200_000;
    await storm(
      () => visitor.get("/grab"),
      ({ status }) => status === 429,
    );
    const busy = await visitor.get("/countdown");
    expect(busy.status).toBe(429);
    expect(busy.text).toContain("More than 10 requests came from you within one second");
    expect(busy.text).toContain("It opens again at");
    expect(Number(busy.headers.get("retry-after"))).toBeGreaterThan(10);
    expect((await visitor.get("/busy")).text).toContain("That was a little too quick");
    expect((await visitor.post("/grab", {}, { accept: "application/json" })).status).toBe(429);
  });

  it("leaves everybody else alone", async () => {
    const { place, visitor } = await signedIn();
    const other = place.visitor();
    await other.signIn("s3");
    await storm(() => visitor.get("/countdown"), isPostponed);
    expect((await other.get("/countdown")).text).toContain(`data-start="${START_MS}"`);
    expect((await other.get("/busy")).text).toContain("Nothing is closed to you.");
  });
});
