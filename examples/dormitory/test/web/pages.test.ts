import { inTime } from "@holdfast/conformance";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { fieldOf } from "./visitor.js";
import { type Engine, openWorld, START_MS, startEngine } from "./world.js";

let engine: Engine;
let count = 0;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

async function world() {
  count += 1;
  return openWorld(engine, `p${count}-`);
}

async function signedIn(id: string, headers: Readonly<Record<string, string>> = {}) {
  const place = await world();
  const visitor = place.visitor(headers);
  await visitor.signIn(id);
  return { place, visitor };
}

describe("sign-in", () => {
  it("leads students and administrators to their pages", async () => {
    const { memory: _, ...place } = await world();
    const student = place.visitor();
    expect((await student.signIn("s1")).location).toBe("/me");
    expect((await student.get("/")).location).toBe("/me");
    const administrator = place.visitor();
    expect((await administrator.signIn("admin")).location).toBe("/admin");
  });

  it("says the same of a wrong password and of a number that does not exist", async () => {
    const visitor = (await world()).visitor();
    const [wrong, unknown] = [await visitor.signIn("s1", "no"), await visitor.signIn("nobody", "no")];
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(unknown.text.replace("nobody", "s1").replaceAll(/nonce="[^"]*"/g, "")).toBe(
      wrong.text.replaceAll(/nonce="[^"]*"/g, ""),
    );
  });

  it("closes an account to guesses, also to the right one", async () => {
    const visitor = (await world()).visitor();
    for (let turn = 0; turn < 5; turn += 1) await visitor.signIn("s7", "no");
    const refused = await visitor.signIn("s7", "password of s7");
    expect(refused.status).toBe(429);
    expect(refused.text).toContain("Too many wrong passwords");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it("ends with the sign-out", async () => {
    const { visitor } = await signedIn("s1");
    expect((await visitor.post("/logout")).location).toBe("/?said=signed-out");
    expect((await visitor.get("/me")).location).toBe("/?said=needed");
  });
});

describe("languages", () => {
  it("go by the address, the cookie, and the browser, in this order", async () => {
    const { visitor } = await signedIn("s1", { "accept-language": "de, zh-TW;q=0.8, en;q=0.5" });
    expect((await visitor.get("/me")).text).toContain('<html lang="zh-CN">');
    expect((await visitor.get("/me?lang=en")).text).toContain("Wishes");
    expect((await visitor.get("/me")).text).toContain('<html lang="en">');
  });
});

describe("wishes", () => {
  it("are added, moved and removed by buttons", async () => {
    const { place, visitor } = await signedIn("s1");
    const wishes = () => place.memory.teamOf("s1").wishes;
    const change = async (fields: Readonly<Record<string, string>>) =>
      visitor.post("/me/wishes", { version: wishes().version, seen: wishes().roomIds, ...fields });
    expect((await change({ change: "add", room: "r201" })).location).toBe("/me?said=added");
    await change({ change: "add", room: "r101" });
    await change({ change: "up:r101" });
    expect(wishes().roomIds).toEqual(["r101", "r201"]);
    await change({ change: "down:r101" });
    await change({ change: "remove:r201" });
    expect(wishes().roomIds).toEqual(["r101"]);
  });

  it("changed meanwhile by another member are not overwritten, and the own change is kept for another try", async () => {
    const { place, visitor } = await signedIn("s1");
    const team = place.memory.teamOf("s1");
    team.wishes = { roomIds: ["r101"], version: "7", by: { id: "s2", name: "Wang <i>" }, atMs: START_MS };
    const stale = await visitor.post("/me/wishes", {
      version: "6",
      seen: ["r102"],
      change: "add",
      room: "r201",
    });
    expect(stale.status).toBe(409);
    expect(stale.text).toContain("Wang &lt;i&gt; changed the wishes");
    expect(stale.text).toContain("East 101 was added");
    expect(stale.text).toContain("East 102 was removed");
    expect(stale.text).toContain("Add West 201");
    const again = { version: fieldOf(stale, "version"), seen: fieldOf(stale, "seen"), change: "add:r201" };
    expect((await visitor.post("/me/wishes", again)).status).toBe(303);
    expect(team.wishes.roomIds).toEqual(["r101", "r201"]);
  });

  it("are refused with the reason", async () => {
    const { visitor } = await signedIn("s1");
    const answer = await visitor.post("/me/wishes", { version: "0", change: "add", room: "r999" });
    expect(answer.status).toBe(409);
    expect(answer.text).toContain("This room does not belong to the batch.");
  });
});

describe("a team", () => {
  it("grows by an invitation that is accepted", async () => {
    const { place, visitor } = await signedIn("s1");
    expect((await visitor.post("/team/invite", { number: "s3" })).location).toBe("/me?said=invited");
    const other = place.visitor();
    await other.signIn("s3");
    const page = await other.get("/me");
    expect(page.text).toContain("Li Wei");
    const answer = await other.post("/team/accept", { invitation: fieldOf(page, "invitation") });
    expect(answer.location).toBe("/me?said=accepted");
    const home = await visitor.get("/me");
    expect(home.text).toContain("2 members");
    expect(home.text).toContain("Robert&#39;); DROP TABLE students;--");
  });

  it("says why an invitation is refused", async () => {
    const { visitor } = await signedIn("s1");
    const answer = await visitor.post("/team/invite", { number: "s9" });
    expect(answer.location).toBe("/me?refused=no-such-student");
    expect((await visitor.get(answer.location ?? "")).text).toContain(
      "No student of this batch has this number.",
    );
  });
});

describe("the choice", () => {
  it("waits for the start, gives a room, takes it back, and gives another one by hand", async () => {
    const { place, visitor } = await signedIn("s1");
    await visitor.post("/me/wishes", { version: "0", change: "add", room: "r101" });
    expect((await visitor.get("/grab")).text).toContain("Your selection begins at");
    place.nowMs = START_MS;
    const page = await visitor.get("/grab");
    expect((await visitor.post("/grab", { requestId: fieldOf(page, "requestId") })).location).toBe("/grab");
    const result = await visitor.get("/grab");
    expect(result.text).toContain("You have East 101");
    const regret = await visitor.post("/regret", { requestId: fieldOf(result, "requestId") });
    expect((await visitor.get(regret.location ?? "")).text).toContain("The room was given back.");
    const rooms = await visitor.get("/rooms");
    expect(
      (await visitor.post("/pick", { requestId: fieldOf(rooms, "requestId"), room: "r202" })).status,
    ).toBe(303);
    expect((await visitor.get("/grab")).text).toContain("You have West 202");
  });

  it("says why a room was not given", async () => {
    const { place, visitor } = await signedIn("s1");
    place.nowMs = START_MS;
    await visitor.post("/grab", {});
    expect((await visitor.get("/grab")).text).toContain("Your team has no wishes.");
  });

  it("shows the place in the queue, on the page and in the stream", async () => {
    const { place, visitor } = await signedIn("s1");
    place.nowMs = START_MS;
    place.memory.waiting = {
      ...{ state: "waiting", way: "lanes", ticket: "t1", position: 8, ahead: 7, etaMs: 4_000 },
      ...{ outcome: null, places: [], teamSize: 1, version: "5" },
    };
    const page = await visitor.get("/grab");
    expect(page.text).toContain("You are number 8 in the queue.");
    expect(page.text).toContain("7 choices are ahead of you.");
    const { lines, position } = JSON.parse((await visitor.json("/ticket")).text);
    expect(position).toBe(8);
    expect(lines.eta).toBe("Expected in 4 seconds.");
    expect(page.text).toContain('data-away="No answer from the store.');
    expect((await visitor.get("/grab?lang=zh-CN")).text).toContain('data-away="数据服务没有响应。');
  });

  it("of a mate is noticed by the page of the team, and by a small answer while there is none", async () => {
    const { place, visitor } = await signedIn("s1");
    place.nowMs = START_MS;
    place.memory.teamOf("s1").members.push("s2");
    place.memory.teams.delete("s2");
    const page = await visitor.get("/grab");
    const [, seen] = /data-seen="([\w-]+)"/.exec(page.text) ?? [];
    expect(page.text).toMatch(/src="\/assets\/team\.[^"]+\.js"/);
    const asked = () => visitor.json(`/ticket?seen=${seen}`);
    expect(await asked()).toMatchObject({ status: 204, text: "" });
    const mate = place.visitor();
    await mate.signIn("s2");
    await mate.post("/pick", { room: "r202" });
    expect((await asked()).status).toBe(200);
    const result = (await visitor.get("/grab?said=team")).text;
    expect(result).toContain("The selection of your team has changed.");
    expect(result).toContain("You have West 202");
  });

  it("needs no script where nobody else can choose for the student", async () => {
    const { place, visitor } = await signedIn("s1");
    place.nowMs = START_MS;
    expect((await visitor.get("/grab")).text).not.toMatch(/<script|data-seen/);
    place.memory.teamOf("s1").members.push("s2");
    place.nowMs = START_MS + 3_600_000;
    expect((await visitor.get("/grab")).text).not.toMatch(/<script|data-seen/);
  });
});

describe("an administrator", () => {
  it("makes and edits a batch, and learns why an edit is refused", async () => {
    const { place, visitor } = await signedIn("admin");
    const terms = { name: "Batch <b>", starts: "2026-11-23T16:00", ends: "2026-11-23T17:00", way: "lanes" };
    const made = await visitor.post("/admin/batches", terms);
    expect(made.location).toMatch(/^\/admin\/batches\/[\w-]+\?said=created$/);
    const path = (made.location ?? "").replace(/\?.*/, "");
    expect((await visitor.get(path)).text).toContain("Batch &lt;b&gt;");
    expect((await visitor.post(path, { ...terms, way: "locks" })).status).toBe(303);
    const refused = await visitor.post(path, { ...terms, ends: "2026-11-23T15:00" });
    expect(refused.status).toBe(409);
    expect(refused.text).toContain("the end must be after the start");
    expect([...place.memory.batches.values()].at(-1)?.way).toBe("locks");
  });

  it("sees figures, imports with errors by line, archives, checks and repairs", async () => {
    const { place, visitor } = await signedIn("admin");
    const path = `/admin/batches/${[...place.memory.batches.keys()][0]}`;
    expect(JSON.parse((await visitor.json(`${path}/figures`)).text).figures.queue).toBe("3");
    const imported = await visitor.post(`${path}/import`, {
      kind: "students",
      text: "number,name,password\n",
    });
    expect(imported.text).toContain("1 line has an error");
    expect(imported.text).toContain("&lt;b&gt;x&lt;/b&gt;");
    const [[id, batch] = []] = place.memory.batches;
    if (!id || !batch) throw new Error("no batch");
    place.memory.batches.set(id, { ...batch, state: "archived" });
    const late = await visitor.post(`${path}/import`, { kind: "rooms", text: "building,name,beds\n" });
    expect([late.status, late.text.includes("The batch is archived")]).toEqual([409, true]);
    place.memory.batches.set(id, batch);
    expect((await visitor.post(`${path}/archive`)).text).toContain("2 results copied");
    expect((await visitor.post("/admin/upkeep", { action: "check" })).text).toContain("No difference");
    expect((await visitor.post("/admin/upkeep", { action: "repair" })).text).toContain("s1 &lt;b&gt;");
  });

  it("learns that an archive without a leader may still be made", async () => {
    const { place, visitor } = await signedIn("admin");
    const path = `/admin/batches/${[...place.memory.batches.keys()][1]}`;
    const late = await visitor.post(`${path}/archive`);
    expect(late.status).toBe(503);
    expect(late.text).toContain("It is not certain whether your last click was counted.");
  });
});

describe("a store that does not answer", () => {
  it("keeps nobody from the sign-in and the countdown, nor a guesser from being kept out", async () => {
    const own = await startEngine();
    const place = await openWorld(own, "away-");
    onTestFinished(() => own.stop());
    await own.cut();
    const visitor = place.visitor();
    const soon = <Value>(work: Promise<Value>): Promise<Value> => inTime(work, own.clock);
    expect((await soon(visitor.signIn("s1"))).location).toBe("/me");
    expect((await soon(visitor.get("/countdown"))).status).toBe(200);
    const guesses = [];
    for (let turn = 0; turn < 3; turn += 1) guesses.push((await soon(visitor.signIn("s3", "no"))).status);
    expect(guesses).toEqual([401, 401, 429]);
  });

  it("is said on the pages, which ask again, but never repeat a click", async () => {
    const { place, visitor } = await signedIn("s1");
    place.nowMs = START_MS;
    place.cut("unknown");
    const page = await visitor.get("/grab");
    expect(page.status).toBe(503);
    expect(page.text).toContain("Nothing that was confirmed is lost.");
    expect(page.text).toContain('http-equiv="refresh"');
    const click = await visitor.post("/grab", {});
    expect(click.status).toBe(503);
    expect(click.text).toContain("It is not certain whether your last click was counted.");
    expect(click.text).not.toContain('http-equiv="refresh"');
    expect(JSON.parse((await visitor.json("/ticket")).text)).toEqual({ error: "away", happened: "unknown" });
    expect(place.logged).toEqual([]);
  });
});
