import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fieldOf } from "./visitor.js";
import { type Engine, openWorld, START_MS, startEngine } from "./world.js";

let engine: Engine;
let count = 0;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

async function signedIn(id = "s1") {
  count += 1;
  const place = await openWorld(engine, `s${count}-`);
  const visitor = place.visitor();
  await visitor.signIn(id);
  return { place, visitor };
}

const json = { accept: "application/json", "content-type": "application/json" };

describe("a forged request", () => {
  it.each([
    ["a form of another site", { origin: "http://evil.test", "sec-fetch-site": "cross-site" }],
    ["a form of a sister site", { origin: "http://sister.dormitory.test", "sec-fetch-site": "same-site" }],
    ["a form without an origin", { origin: "", "sec-fetch-site": "" }],
    ["a form from a sandbox", { origin: "null", "sec-fetch-site": "cross-site" }],
  ])("is refused: %s", async (_, headers) => {
    const { place, visitor } = await signedIn();
    const answer = await visitor.post("/me/wishes", { version: "0", change: "add", room: "r101" }, headers);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("The request did not come from this site");
    expect(place.memory.teamOf("s1").wishes.roomIds).toEqual([]);
  });

  it.each([
    ["JSON from another site", { ...json, origin: "http://evil.test", "x-dormitory": "1" }, 403],
    ["JSON without the own field", json, 403],
    ["text that is JSON", { ...json, "content-type": "text/plain" }, 415],
    ["a body without a type", { accept: "application/json" }, 415],
  ])("is refused: %s", async (_, headers, status) => {
    const { place, visitor } = await signedIn();
    place.nowMs = START_MS;
    const answer = await visitor.send("/grab", { method: "POST", body: "{}", headers });
    expect(answer.status).toBe(status);
    expect(place.memory.requestIds).toEqual([]);
  });

  it("is another thing than one of a program, which says whose it is", async () => {
    const { place, visitor } = await signedIn();
    place.nowMs = START_MS;
    const headers = { ...json, "x-dormitory": "1" };
    const body = JSON.stringify({ requestId: "0123456789" });
    const answer = await visitor.send("/grab", { method: "POST", body, headers });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text).state).toBe("refused");
  });
});

describe("behind a proxy that ends TLS", () => {
  it("cookies are for https, and forms come from the address that browsers see", async () => {
    count += 1;
    const place = await openWorld(engine, `s${count}-`, { publicUrl: "https://rooms.test" });
    const fields = { number: "s1", password: "password of s1" };
    const own = await place.visitor().post("/login", fields, { origin: "https://rooms.test" });
    expect(own.headers.get("set-cookie")).toMatch(/; Secure/);
    expect(own.headers.get("strict-transport-security")).toContain("max-age");
    const inner = await place
      .visitor()
      .post("/login", fields, { origin: "http://rooms.test", "sec-fetch-site": "" });
    expect(inner.status).toBe(403);
  });
});

describe("a session", () => {
  it("is not believed after a change of any character", async () => {
    const { place, visitor } = await signedIn();
    const value = decodeURIComponent(visitor.cookies.get("dormitory") ?? "");
    const [payload = "", signature = ""] = value.split(/\.(?=[^.]*$)/);
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const raised = Buffer.from(JSON.stringify({ ...claims, role: "admin" })).toString("base64url");
    for (const forged of [
      `${raised}.${signature}`,
      `${payload}.${signature.replace(/./, "_")}`,
      payload,
      "x.y",
      "",
    ]) {
      visitor.cookies.set("dormitory", encodeURIComponent(forged));
      expect((await visitor.get("/admin")).location).toBe("/?said=needed");
    }
    expect(place.logged).toEqual([]);
  });

  it("is kept from scripts and from other sites", async () => {
    const { visitor } = await signedIn();
    const cookie = (await visitor.signIn("s1")).headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Lax/);
  });

  it("ends after twelve hours, whatever the browser keeps", async () => {
    const { place, visitor } = await signedIn();
    place.nowMs += 12 * 3_600_000;
    expect((await visitor.get("/me")).location).toBe("/?said=needed");
  });

  it("of a student opens no page of the administrator, and the other way round", async () => {
    const { place, visitor } = await signedIn();
    const [id] = place.memory.batches.keys();
    for (const path of ["/admin", "/admin/upkeep", `/admin/batches/${id}`, `/admin/batches/${id}/figures`])
      expect((await visitor.get(path)).status).toBe(403);
    for (const path of [
      "/admin/batches",
      `/admin/batches/${id}`,
      `/admin/batches/${id}/import`,
      "/admin/upkeep",
    ])
      expect((await visitor.post(path, { action: "repair" })).status).toBe(403);
    const administrator = place.visitor();
    await administrator.signIn("admin");
    expect((await administrator.get("/me")).status).toBe(403);
  });

  it("is needed for everything but the sign-in", async () => {
    const { place } = await signedIn();
    const stranger = place.visitor();
    for (const path of ["/me", "/countdown", "/grab", "/rooms", "/busy", "/events", "/admin"])
      expect((await stranger.get(path)).location).toBe("/?said=needed");
    expect((await stranger.json("/ticket")).status).toBe(401);
    expect((await stranger.post("/grab", {}, { accept: "application/json" })).status).toBe(401);
  });
});

describe("other people's things", () => {
  it("stay theirs: an invitation to somebody else is accepted by nobody else", async () => {
    const { place, visitor } = await signedIn("s1");
    await visitor.post("/team/invite", { number: "s3" });
    const [invitation] = place.memory.invitations;
    const thief = place.visitor();
    await thief.signIn("s2");
    const answer = await thief.post("/team/accept", { invitation: invitation?.id ?? "" });
    expect(answer.location).toBe("/me?refused=no-such-invitation");
    expect(place.memory.teamOf("s1").members).toEqual(["s1"]);
  });

  it("stay theirs: the id of a request is worth nothing to another student", async () => {
    const { place, visitor } = await signedIn("s1");
    place.nowMs = START_MS;
    const requestId = fieldOf(await visitor.get("/grab"), "requestId");
    const other = place.visitor();
    await other.signIn("s3");
    await visitor.post("/pick", { requestId, room: "r101" });
    await other.post("/pick", { requestId, room: "r102" });
    await other.post("/pick", { requestId, room: "r102" });
    expect(place.memory.places.map(({ studentId, roomId }) => `${studentId} ${roomId}`)).toEqual([
      "s1 r101",
      "s3 r102",
    ]);
    expect(new Set(place.memory.requestIds).size).toBe(2);
  });

  it("a replayed form gives no second room, and moves nobody back", async () => {
    const { place, visitor } = await signedIn("s1");
    place.nowMs = START_MS;
    const first = fieldOf(await visitor.get("/rooms"), "requestId");
    await visitor.post("/pick", { requestId: first, room: "r101" });
    await visitor.post("/pick", {
      requestId: fieldOf(await visitor.get("/rooms"), "requestId"),
      room: "r102",
    });
    await visitor.post("/pick", { requestId: first, room: "r101" });
    expect(place.memory.places).toEqual([{ studentId: "s1", roomId: "r102", bed: 1 }]);
  });
});

describe("what people type", () => {
  it("is shown as text", async () => {
    const { visitor } = await signedIn("s2");
    const home = await visitor.get("/me");
    expect(home.text).toContain("Wang &lt;script&gt;alert(1)&lt;/script&gt;");
    expect(home.text).not.toContain("<script>alert");
    const again = await visitor.post("/login", { number: `"><img src=x onerror=alert(1)>`, password: "no" });
    expect(again.text).not.toContain("<img");
  });

  it("is refused where a store could not keep it", async () => {
    const { place, visitor } = await signedIn("admin");
    for (const number of ["\0", "a\0b", "\u001b[31m"])
      expect((await visitor.signIn(number, "no")).status).toBe(400);
    const headers = { ...json, "x-dormitory": "1" };
    const body = JSON.stringify({ number: "\ud800" });
    const student = place.visitor();
    await student.signIn("s1");
    expect((await student.send("/team/invite", { method: "POST", body, headers })).status).toBe(400);
  });

  it("ends at a size, and at what the form has", async () => {
    const { visitor } = await signedIn();
    const large = await visitor.post("/me/wishes", { version: "0", change: "add", room: "x".repeat(40_000) });
    expect(large.status).toBe(413);
    for (const fields of [
      {},
      { version: "0", change: "fly:r101" },
      { version: "0", seen: Array(200).fill("r") },
    ])
      expect((await visitor.post("/me/wishes", fields)).status).toBe(400);
    const headers = { ...json, "x-dormitory": "1" };
    for (const body of ["", "null", "[1]", '{"version":1}', '{"version":"0","seen":{"__proto__":1}}'])
      expect((await visitor.send("/me/wishes", { method: "POST", body, headers })).status).toBe(400);
  });
});

describe("every page", () => {
  it("runs no script but its own, and is in nobody's frame", async () => {
    const { visitor } = await signedIn();
    const { headers, text } = await visitor.get("/countdown");
    const policy = headers.get("content-security-policy") ?? "";
    const nonce = /nonce="([^"]+)"/.exec(text)?.[1] ?? "none";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`'nonce-${nonce}'`);
    expect(policy).not.toContain("unsafe");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-store");
    expect((await visitor.get("/countdown")).text).not.toContain(nonce);
    for (const path of ["/nothing/here", "/assets/nothing", "/assets/%2e%2e%2fserver.js", "/%"])
      expect((await visitor.get(path)).status).toBe(404);
  });
});
