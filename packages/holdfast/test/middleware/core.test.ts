/** What the core does by itself: whom lists name, what is given back while Redis is away, who prolongs a penalty. */
import { UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { type GuardOptions, Holdfast } from "holdfast";
import { AddressList, type Admission, type Incoming, RequestLimiter } from "holdfast/middleware";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let server: EmbeddedValkey;
let hf: Holdfast;
let names = 0;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  hf = new Holdfast(server.url, UNHURRIED);
});

afterAll(async () => {
  await hf.close();
  await server.stop();
});

const GUARD: GuardOptions = { hits: 2, per: "1h", penalties: [{ kind: "busy", for: "1m" }] };
const guardOf = (options: Partial<GuardOptions>) => hf.guard(`g${++names}`, { ...GUARD, ...options });

function from(address: string | null): Incoming<unknown> {
  return { method: "GET", address, header: () => null, identity: {}, raw: null };
}

const reasonOf = ({ answer }: Admission) => answer?.status ?? "on";

describe("the lists of a guard, where requests are counted by address", () => {
  const single = ["2001:db8::bad", "198.51.100.9"];

  test.each([
    ["an AddressList", new AddressList(single)],
    ["an array", single],
    ["a Set", new Set(single)],
  ])("%s names single addresses, although networks are counted", async (_, list) => {
    const denying = new RequestLimiter(hf, { guard: guardOf({ deny: list }) });
    const answers = [];
    const bad = ["2001:db8::bad", "2001:0DB8:0::BAD", "198.51.100.9", "::ffff:198.51.100.9"];
    for (const address of [...bad, "2001:db8::900d", null, "unix"])
      answers.push(reasonOf(await denying.admit(from(address))));
    expect(answers).toEqual([403, 403, 403, 403, "on", 400, "on"]);
    const allowing = new RequestLimiter(hf, { guard: guardOf({ allow: list }) });
    for (let hit = 0; hit < 5; hit += 1)
      expect(reasonOf(await allowing.admit(from("2001:db8::bad")))).toBe("on");
    // Of the same network, and counted: two are free.
    const others = [];
    for (let hit = 0; hit < 3; hit += 1) others.push(reasonOf(await allowing.admit(from("2001:db8::900d"))));
    expect(others).toEqual(["on", "on", 429]);
    expect(reasonOf(await allowing.admit(from("2001:db8::bad")))).toBe("on");
  });

  test.each(["192.0.2.7", "::ffff:192.0.2.7"])(
    "an array may name an IPv4 address as Node shows it to servers on IPv4, or on IPv6: %s",
    async (listed) => {
      const limiter = new RequestLimiter(hf, { guard: guardOf({ deny: [listed] }) });
      const answers = [];
      for (const address of ["192.0.2.7", "::ffff:192.0.2.7", "::ffff:c000:207", "192.0.2.8"])
        answers.push(reasonOf(await limiter.admit(from(address))));
      expect(answers).toEqual([403, 403, 403, "on"]);
    },
  );

  test("may name the network that is counted, as events tell it; and keys that are too long to be counted by", async () => {
    const guard = guardOf({ deny: ["2001:db8::/56", "x".repeat(300)] });
    expect(reasonOf(await new RequestLimiter(hf, { guard }).admit(from("2001:db8::1")))).toBe(403);
    const key = () => "x".repeat(300);
    expect(reasonOf(await new RequestLimiter(hf, { guard: { guard, key } }).admit(from(null)))).toBe(403);
  });

  test("are asked where hits are counted after the response as well", async () => {
    const guard = guardOf({ allow: ["2001:db8::1"], hits: 1 });
    const limiter = new RequestLimiter(hf, { guard: { guard, count: "failures" } });
    for (let hit = 0; hit < 3; hit += 1) await (await limiter.admit(from("2001:db8::1"))).settle?.(401);
    expect(await guard.look("2001:db8::/56")).toMatchObject({ ok: true, remaining: 1 });
  });
});

describe("with a share of the limit while Redis is away", () => {
  test.each([1, 2])("what was no failure is given back, to %d limits", async (count) => {
    const away = new Holdfast("redis://127.0.0.1:1", { callTimeout: 50 });
    const local = { max: 100, per: "1h", outage: "local", localShare: 0.05 } as const;
    const rules = Array.from({ length: count }, (_, at) => ({
      limit: away.limit(`l${at}`, local),
      count: "failures" as const,
    }));
    const limiter = new RequestLimiter(away, { limits: rules, key: () => "me" });
    for (let request = 0; request < 20; request += 1) {
      const { answer, settle } = await limiter.admit(from(null));
      expect(answer).toBeNull();
      await settle?.(200);
    }
    for (let request = 0; request < 5; request += 1) await (await limiter.admit(from(null))).settle?.(401);
    expect(reasonOf(await limiter.admit(from(null)))).toBe(429);
    await away.close();
  });
});

describe("a penalty that hits prolong", () => {
  test.each(["all", "failures", "successes", () => false] as const)(
    "begins anew with each request during it, whatever counts: %s",
    async (count) => {
      const penalties = [{ kind: "busy", for: 60_000, prolong: true }] as const;
      const guard = guardOf({ hits: 1, penalties });
      const retries: (number | null)[] = [];
      const limiter = new RequestLimiter(hf, {
        guard: { guard, count },
        key: () => "me",
        answer: (answer, { retryAfterMs }) => {
          retries.push(retryAfterMs);
          return answer;
        },
      });
      await guard.hit("me");
      await guard.hit("me");
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(reasonOf(await limiter.admit(from(null)))).toBe(429);
      expect(retries).toEqual([60_000]);
      expect(await guard.look("me")).toMatchObject({ ok: false, strikes: 1 });
    },
  );

  test("without it, requests during a penalty are no hits", async () => {
    const guard = guardOf({ hits: 1 });
    const limiter = new RequestLimiter(hf, { guard: { guard, count: "failures" }, key: () => "me" });
    await guard.hit("me");
    const { retryAfterMs } = await guard.hit("me");
    await new Promise((resolve) => setTimeout(resolve, 20));
    await limiter.admit(from(null));
    expect((await guard.look("me")).retryAfterMs).toBeLessThan(retryAfterMs as number);
  });
});
