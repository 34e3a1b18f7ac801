/** One name that the user may not touch: the others of its batch must not suffer for it. */
import { ManualClock, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast, type Lease } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";

const GOOD = ["ok-1", "ok-2", "ok-3", "ok-4", "ok-5"];
/** In the middle, so that others are on either side of it. */
const NAMES = [...GOOD.slice(0, 2), "secret", ...GOOD.slice(2)];

let server: EmbeddedValkey;
let admin: Redis;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  admin = new Redis(server.url);
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

const allow = (...patterns: string[]): Promise<unknown> =>
  admin.call("ACL", "SETUSER", "part", "on", ">pw", "+@all", "allchannels", "resetkeys", ...patterns);

/** How often a script was called: carried out, or refused for its keys. */
async function scriptCalls(): Promise<{ done: number; refused: number }> {
  const lines = (await admin.info("commandstats")).match(/^cmdstat_eval(sha)?:.*$/gm) ?? [];
  const sum = (field: string): number =>
    lines.reduce((total, line) => total + Number(new RegExp(`${field}=(\\d+)`).exec(line)?.[1] ?? 0), 0);
  return { done: sum("\\bcalls"), refused: sum("rejected_calls") };
}

function open(clock?: ManualClock): Holdfast {
  const client = new Redis(server.url, { username: "part", password: "pw" });
  const hf = new Holdfast(client, { clock });
  onTestFinished(async () => {
    await hf.close();
    client.disconnect();
  });
  return hf;
}

beforeEach(async () => {
  await admin.flushall();
  await allow("~holdfast:{ok-*");
});

test.each([
  { how: "tries", take: (hf: Holdfast, name: string) => hf.mutex(name).tryAcquire() },
  { how: "waits", take: (hf: Holdfast, name: string) => hf.mutex(name).acquire({ wait: "5s" }) },
])("of $how in one batch it alone is refused; each asks once more, for itself", async ({ take }) => {
  const hf = open();
  await take(hf, "ok-0"); // connected, and the scripts known
  await admin.config("RESETSTAT");
  const outcomes = await Promise.allSettled(NAMES.map((name) => take(hf, name)));
  expect(outcomes.map(({ status }) => status)).toEqual(
    NAMES.map((name) => (name === "secret" ? "rejected" : "fulfilled")),
  );
  expect(outcomes[2]).toMatchObject({ reason: { code: "SERVER_ERROR", serverCode: "NOPERM" } });
  for (const name of GOOD) expect(await admin.get(`holdfast:{${name}}:lock`)).toMatch(/^\d{16} \S/);
  // Refused are the batch, the one name by itself, and what cleans up after it.
  const { done, refused } = await scriptCalls();
  expect(done).toBe(GOOD.length);
  expect(refused).toBeGreaterThanOrEqual(2);
});

test("of renewals in one batch it alone is unknown, and only its lease ends", async () => {
  await allow("~holdfast:*");
  const clock = new ManualClock();
  const hf = open(clock);
  const leases = (await Promise.all(
    NAMES.map((name) => hf.mutex(name, { ttl: "30s" }).tryAcquire()),
  )) as Lease[];
  await allow("~holdfast:{ok-*");
  const good = leases.filter(({ name }) => name !== "secret");
  // Past a third of the ttl, and past it again before the end of the refused one.
  for (const stepMs of [12_000, 12_000]) {
    clock.advance(stepMs);
    await until("the others are renewed", () => good.every(({ remainingMs }) => remainingMs > 20_000));
  }
  expect(leases[2]?.remainingMs).toBeLessThan(6_000);
  clock.advance(6_000);
  expect(leases[2]?.signal.reason).toMatchObject({ code: "LEASE_LOST", reason: "expired" });
  for (const lease of leases) expect(lease.valid).toBe(lease.name !== "secret");
});
