/** The application in real browsers: two web servers over the real stores, a worker for the lanes, one browser a person. */
import { FaultProxy } from "@holdfast/conformance";
import type { Consumer } from "holdfast";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { upkeepOf } from "../../src/archive/upkeep.js";
import { passwordOf } from "../../src/data/passwords.js";
import type { SeedBatch, SeedTeam } from "../../src/data/seed.js";
import type { OpenDormitory } from "../../src/state/dormitory.js";
import { startWebServer, type WebServer } from "../../src/web/listen.js";
import { ADMIN, openOn, seeded, storesOfFile } from "../fixture.js";
import { executablePath, launch, overflowOf, phone } from "./chromium.js";

const SEED = "test";
const SECRET = "a secret of at least thirty-two characters";

describe.skipIf(executablePath === undefined)("in browsers", () => {
  const stores = storesOfFile();
  let browser: Browser;
  let servers: readonly WebServer[] = [];
  let dormitory: OpenDormitory;
  let worker: Consumer;
  /** Between the second server and Redis. */
  let wire: FaultProxy;
  let batches: readonly SeedBatch[] = [];
  /** Errors of pages: scripts that the policy blocked, exceptions, and failed requests. */
  let errors: string[] = [];

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  beforeEach(async () => {
    errors = [];
    dormitory = openOn(stores());
    const { redisUrl, postgresUrl } = stores();
    wire = await FaultProxy.start({ host: "127.0.0.1", port: Number(new URL(redisUrl).port) });
    onTestFinished(() => wire.close());
    const other = openOn({ redisUrl: wire.url, postgresUrl });
    batches = await seeded(dormitory, { batches: 2, studentsPerBatch: 30 });
    servers = await Promise.all([dormitory, other].map((opened) => served(opened)));
    worker = dormitory.decideLanes(4);
    onTestFinished(async () => {
      await Promise.all(servers.map((server) => server.stop()));
      await worker.stop({ grace: "1s" });
    });
  });
  afterEach(() => {
    expect(errors).toEqual([]);
  });

  function served(opened: OpenDormitory, port = 0): Promise<WebServer> {
    const { hf } = opened;
    const log = (line: string) => void errors.push(line);
    return startWebServer({ dormitory: opened, upkeep: upkeepOf(opened), hf, secret: SECRET, port, log });
  }

  /** A browser of a person, at one of the two servers. */
  async function person(at: number, options: BrowserContextOptions = {}): Promise<Page> {
    const port = servers[at]?.port;
    const baseURL = `http://127.0.0.1:${port}`;
    const context = await browser.newContext({ baseURL, locale: "en-GB", ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("status of 4")) errors.push(message.text());
    });
    return page;
  }

  async function signIn(page: Page, number: string): Promise<void> {
    await page.goto("/");
    await page.getByLabel("Student number").fill(number);
    await page.getByLabel("Password").fill(passwordOf(SEED, number));
    await page.getByRole("button", { name: "Sign in" }).click();
  }

  async function student(at: number, number: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await person(at, options);
    await signIn(page, number);
    return page;
  }

  function batchAt(at: number): SeedBatch {
    return batches[at] as SeedBatch;
  }

  function teamOf(batch: SeedBatch, isFit: (team: SeedTeam) => boolean): readonly [string, ...string[]] {
    const found = batch.teams.find(isFit)?.members;
    if (!found) throw new Error("no such team in the seed");
    return found as unknown as readonly [string, ...string[]];
  }

  const singles = (batch: SeedBatch): string[] =>
    batch.teams.filter(({ members }) => members.length === 1).flatMap(({ members }) => members);

  it("people sign in, change the language, and sign out", async () => {
    const page = await person(0);
    const [number] = singles(batchAt(0)) as [string];
    await page.goto("/me");
    await page.getByText("Sign in to go on.").waitFor();
    await page.getByLabel("Student number").fill(number);
    await page.getByLabel("Password").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The number or the password is not right.").waitFor();
    await signIn(page, number);
    await page.getByRole("link", { name: "中文" }).click();
    await page.getByRole("heading", { name: "志愿" }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("zh-CN");
    await page.getByRole("button", { name: "退出" }).click();
    await page.getByText("您已退出。").waitFor();
  });

  it("two members change the wishes at once: the second sees who did what, and applies the own change again", async () => {
    const [one, other] = teamOf(batchAt(0), ({ members }) => members.length >= 2) as [string, string];
    const [first, second] = [await student(0, one), await student(1, other, { javaScriptEnabled: false })];
    const rows = (page: Page) => page.locator("ol[data-rows] > li");
    const before = await rows(second).allInnerTexts();
    await rows(first)
      .first()
      .getByRole("button", { name: /^Remove/ })
      .click();
    await first.getByText("Saved.").waitFor();
    await rows(second)
      .nth(1)
      .getByRole("button", { name: /^Move .* down/ })
      .click();
    await second.getByRole("heading", { name: "Someone else was faster" }).waitFor();
    const alert = await second.getByRole("alert").textContent();
    expect(alert).toContain(`${(before[0] ?? "").split("\n")[0]} was removed`);
    expect(alert).toMatch(/changed the wishes at/);
    await second.getByRole("button", { name: "Apply my change to the new list" }).click();
    await second.getByText("Saved.").waitFor();
    await first.reload();
    expect(await rows(first).allInnerTexts()).toEqual(await rows(second).allInnerTexts());
    expect((await rows(first).allInnerTexts())[1]).toContain((before[1] ?? "").split("\n")[0]);
  });

  it("an invitation that is accepted makes a team, and ends all other invitations on both sides", async () => {
    const [one, two, three] = singles(batchAt(0)) as [string, string, string];
    const [a, b, c] = [await student(0, one), await student(1, two), await student(0, three)];
    const invite = async (page: Page, number: string) => {
      await page.getByLabel("Invite a student by number").fill(number);
      await page.getByRole("button", { name: "Invite" }).click();
      await page.getByText("The invitation was sent.").waitFor();
    };
    await invite(a, two);
    await invite(c, two);
    await invite(a, three);
    await b.reload();
    expect(await b.getByRole("button", { name: "Accept" }).count()).toBe(2);
    await b.getByRole("button", { name: "Accept" }).first().click();
    await b.getByText("You are in the team now.").waitFor();
    expect(await b.getByText("2 members.").count()).toBe(1);
    expect(await b.getByRole("button", { name: "Accept" }).count()).toBe(0);
    for (const page of [a, c]) {
      await page.goto("/me");
      expect(await page.getByRole("button", { name: "Accept" }).count()).toBe(0);
      expect(await page.getByText("has not answered yet").count()).toBe(0);
    }
    await b.getByRole("button", { name: "Leave the team" }).click();
    await b.getByText("You have left the team.").waitFor();
  });

  it.each([
    ["under locks", 0],
    ["in a lane", 1],
  ])(
    "the countdown leads to a room with one click %s; a room is given back, and another taken by hand",
    async (_, at) => {
      const batch = batchAt(at);
      const [number] = singles(batch) as [string];
      await dormitory.batches.edit(batch.id, { startsAtMs: batch.startsAtMs + 60_000 }, ADMIN);
      const page = await student(at, number, { colorScheme: "dark", ...phone });
      await page.clock.install();
      const grab = page.getByRole("button", { name: "Take a room from our wishes" });
      // The servers read the batches every second. A student who asks more than ten times within one second starts later.
      const isOpen = () => page.goto("/countdown").then(() => grab.isEnabled());
      await expect.poll(isOpen, { interval: 500 }).toBe(false);
      expect(await page.getByRole("timer").textContent()).toMatch(/^00:0[01]:\d\d$/);
      await dormitory.batches.edit(batch.id, { startsAtMs: batch.startsAtMs }, ADMIN);
      const other = await page.context().newPage();
      const hasBegun = () => other.goto("/countdown").then(() => other.getByText("has begun").isVisible());
      await expect.poll(hasBegun, { interval: 500 }).toBe(true);
      // The page that was open all the time opens its button by itself.
      expect(await grab.isEnabled()).toBe(false);
      await page.clock.runFor(60_000);
      await grab.click();
      await page.getByRole("heading", { name: /^You have / }).waitFor();
      await page.getByRole("button", { name: "Give the room back" }).click();
      await page.getByRole("button", { name: /from our wishes/ }).waitFor();
      await page.getByRole("link", { name: "Choose by hand" }).click();
      const row = page.locator("tbody tr").last();
      const room = (await row.locator("td").first().textContent())?.split(" wish")[0]?.trim() ?? "";
      await row.getByRole("button").click();
      await page.getByRole("heading", { name: `You have ${room}` }).waitFor();
    },
  );

  it.each([
    ["by its stream", false],
    ["by asking again, where there is no stream", true],
  ])("the page shows the place in the queue, and then the result without a click, %s", async (_, isCut) => {
    const batch = batchAt(1);
    const [one, two] = singles(batch) as [string, string];
    const [ahead, page] = [await student(0, one), await student(1, two)];
    if (isCut) await page.addInitScript({ content: "delete window.EventSource" });
    await worker.stop({ grace: "1s" });
    for (const each of [ahead, page]) {
      await each.goto("/grab");
      await each.getByRole("button", { name: /from our wishes/ }).click();
    }
    await page.getByText("You are number 2 in the queue.").waitFor();
    await page.getByText("1 choice is ahead of you.").waitFor();
    worker = dormitory.decideLanes(4);
    await page.getByRole("heading", { name: /^You have / }).waitFor();
  });

  it("the page says that the store or the server does not answer, moves nothing, and goes back to the place", async () => {
    const [number] = singles(batchAt(1)) as [string];
    const page = await student(1, number, { viewport: { width: 320, height: 640 } });
    await worker.stop({ grace: "1s" });
    await page.goto("/grab");
    await page.getByRole("button", { name: /from our wishes/ }).click();
    const place = page.getByText("You are number 1 in the queue.");
    const status = page.getByRole("status");
    const says = (text: string) =>
      expect.poll(() => status.textContent(), { timeout: 15_000 }).toContain(text);
    const tops = () =>
      page.evaluate(
        "[...document.querySelectorAll('article, footer')].map((each) => each.getBoundingClientRect().top)",
      );
    await place.waitFor();
    await says("This page keeps itself up to date.");
    const before = await tops();
    wire.refuse();
    await says("No answer from the store.");
    expect([await place.count(), await tops()]).toEqual([1, before]);
    wire.heal();
    await says("This page keeps itself up to date.");
    expect(errors).toEqual([]);
    const port = servers[1]?.port ?? 0;
    await servers[1]?.stop();
    await says("No answer from the server.");
    expect([await place.count(), await tops()]).toEqual([1, before]);
    servers = [servers[0] as WebServer, await served(dormitory, port)];
    await says("This page keeps itself up to date.");
    // The browser reports each connection that was refused.
    errors = errors.filter((error) => !/ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING)/.test(error));
  });

  it("a mate sees on the open page what another member of the team chose", async () => {
    const [one, other] = teamOf(batchAt(0), ({ members }) => members.length >= 2) as [string, string];
    const [first, second] = [await student(0, one), await student(1, other)];
    await second.clock.install();
    for (const page of [first, second]) await page.goto("/grab");
    await first.getByRole("button", { name: /from our wishes/ }).click();
    const result = first.getByRole("heading", { name: /^You have / });
    await result.waitFor();
    await second.clock.runFor(15_000);
    await second.getByText("The selection of your team has changed.").waitFor();
    const heading = second.getByRole("heading", { name: /^You have / });
    expect(await heading.textContent()).toBe(await result.textContent());
  });

  it("who asks too often sees the busy page, with the reason and the end", async () => {
    const [number] = singles(batchAt(0)) as [string];
    // Long enough ago that no start can be postponed any more.
    const { id, startsAtMs } = batchAt(0);
    await dormitory.batches.edit(id, { startsAtMs: startsAtMs - 600_000 }, ADMIN);
    const page = await student(0, number);
    await page.goto("/countdown");
    await expect
      .poll(async () => {
        const asked = () =>
          Promise.all(Array.from({ length: 11 }, () => fetch("/grab").then(({ status }) => status)));
        return (await page.evaluate(asked)).includes(429);
      })
      .toBe(true);
    await page.goto("/grab");
    await page.getByRole("heading", { name: "That was a little too quick" }).waitFor();
    await page.getByText("More than 10 requests came from you within one second").waitFor();
    await page.getByText(/Time left: \d+ seconds?/).waitFor();
    // The page asks again by itself, after the penalty.
    await page.getByRole("heading", { name: "Choose a room" }).waitFor({ timeout: 30_000 });
  });

  it("an administrator makes a batch, fills it from CSV, and watches it", async () => {
    const page = await person(0);
    await signIn(page, ADMIN.id);
    await page.getByLabel("Name").fill("Music <b>音乐</b>");
    await page.getByRole("button", { name: "Create the batch" }).click();
    await page.getByText("The batch was created.").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain("Music <b>音乐</b>");
    await page.getByLabel("Students Columns").check();
    await page
      .getByLabel("or CSV text")
      .fill("number,name,password\n7001,Ann,long-enough\n,Bob,long-enough\n");
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByText("1 line imported.").waitFor();
    expect(await page.locator("[role=alert] tbody tr").textContent()).toMatch(/^3\s*Not a student number/);
    await page.getByRole("link", { name: "Back to the batch" }).click();
    await page.getByText("Up to date").waitFor();
    expect(await page.locator("[data-figure-of=students]").textContent()).toBe("1");
    await page.getByLabel("Locks: every request decides itself").check();
    await page.getByRole("button", { name: "Save" }).first().click();
    await page.getByText("Saved.").waitFor();
    expect(await page.getByLabel("Locks: every request decides itself").isChecked()).toBe(true);
    await page.goto("/admin/upkeep");
    await page.getByRole("button", { name: "Check now" }).click();
    await page.getByText("No difference").waitFor();
  });

  it.each([
    ["a phone, in English", { ...phone, locale: "en-GB" }],
    ["a phone, in Chinese", { ...phone, locale: "zh-CN" }],
    ["a small window", { viewport: { width: 320, height: 600 }, locale: "en-GB" }],
  ])("no page is wider than %s", async (_, options) => {
    const [number] = singles(batchAt(0)) as [string];
    const page = await person(0, options);
    for (const [who, paths] of [
      [number, ["/", "/me", "/countdown", "/grab", "/rooms?all=1", "/busy", "/nothing"]],
      [ADMIN.id, ["/admin", `/admin/batches/${batchAt(0).id}`, "/admin/upkeep"]],
    ] as const) {
      await page.context().clearCookies();
      await page.goto("/");
      await page.locator("#number").fill(who);
      await page.locator("#password").fill(passwordOf(SEED, who));
      await page.locator("main button").click();
      for (const path of paths) {
        await page.goto(path);
        expect([path, await overflowOf(page)]).toEqual([path, 0]);
      }
    }
  });
});
