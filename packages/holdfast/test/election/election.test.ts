/** hf.election() among processes, each a Holdfast of its own, on the engine itself. */
import { ManualClock, UNHURRIED, until, within } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Holdfast, type HoldfastOptions, type Leader, type Leadership } from "../../src/index.js";
import { lockKey } from "../../src/redis/keys.js";

let server: EmbeddedValkey;
let redis: Redis;
let peers: Holdfast[];

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

beforeEach(async () => {
  await redis.flushall();
  peers = [];
});

afterEach(async () => {
  await Promise.all(peers.map((each) => each.close()));
});

function peer(label = "", options: HoldfastOptions = {}): Holdfast {
  const hf = new Holdfast(redis, { ...UNHURRIED, label, ...options });
  peers.push(hf);
  return hf;
}

/** Candidates in line, in this order. */
async function inLine(...labels: string[]): Promise<Promise<Leadership>[]> {
  const campaigns: Promise<Leadership>[] = [];
  for (const label of labels) {
    const election = peer(label).election("boss", { value: label });
    const before = (await election.candidates()).length;
    const campaign = election.campaign();
    campaign.catch(() => {});
    campaigns.push(campaign);
    await until("it stands for election", async () => (await election.candidates()).length > before);
  }
  return campaigns;
}

test("the first campaign is won at once, and everybody reads who leads", async () => {
  const election = peer("one").election("boss", { value: { url: "http://one" } });
  const leadership = await election.campaign();
  expect(leadership).toMatchObject({
    election: "boss",
    valid: true,
    announced: true,
    value: { url: "http://one" },
  });
  expect(leadership.fence).toBe(leadership.term);
  expect(leadership.signal.aborted).toBe(false);
  leadership.check();
  const other = peer("other").election("boss");
  const leader = (await other.leader()) as Leader;
  expect(leader).toMatchObject({
    label: "one",
    pid: process.pid,
    value: { url: "http://one" },
    announced: true,
  });
  expect([leader.term, leader.id]).toEqual([leadership.term, leadership.id]);
  expect(leader.remainingMs).toBeGreaterThan(1_000);
  expect(await other.candidates()).toEqual([]);
});

test("nobody leads an election that nobody stood for, and bytes are a value", async () => {
  const election = peer().election<Uint8Array>("boss");
  expect([await election.leader(), await election.candidates()]).toEqual([null, []]);
  await election.campaign({ value: new Uint8Array([1, 255]) });
  expect((await election.leader())?.value).toEqual(new Uint8Array([1, 255]));
});

test("candidates are elected in the order in which they came, each for a larger term", async () => {
  const leader = await peer("first").election("boss").campaign();
  const campaigns = await inLine("second", "third");
  const line = await peer().election("boss").candidates();
  expect(line.map(({ label }) => label)).toEqual(["second", "third"]);
  expect(await leader.resign()).toBe("released");
  const second = (await campaigns[0]) as Leadership;
  expect([second.value, second.id]).toEqual(["second", line[0]?.id]);
  await second.resign();
  const third = (await campaigns[1]) as Leadership;
  expect(third.term > second.term && second.term > leader.term).toBe(true);
});

test("a campaign ends by its time with null, and by its signal with the reason", async () => {
  const leader = await peer().election("boss").campaign();
  const election = peer().election("boss");
  expect(await election.campaign({ wait: 0 })).toBeNull();
  expect(await election.campaign({ wait: 30 })).toBeNull();
  const controller = new AbortController();
  const campaign = election.campaign({ signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(campaign).rejects.toThrow("enough");
  await expect(election.campaign({ signal: controller.signal })).rejects.toThrow("enough");
  await leader.resign();
  expect(await election.candidates()).toEqual([]);
});

test("a leader that has resigned may say so again, and does not lead", async () => {
  const election = peer().election("boss");
  const leadership = await election.campaign();
  expect([await leadership.resign(), await leadership.resign()]).toEqual(["released", "released"]);
  expect([leadership.valid, leadership.remainingMs, leadership.signal.aborted]).toEqual([false, 0, false]);
  expect(() => leadership.check()).toThrow(/leadership of 'boss' \(term \d+\) was given up/);
  expect(await election.leader()).toBeNull();
  await expect(leadership.transfer()).rejects.toThrow(/given up/);
});

test("a term ends by the clocks of the leader, without a request, and a campaign steps down first", async () => {
  const clock = new ManualClock();
  const hf = peer("late", { clock });
  const election = hf.election("boss", { term: "5s" });
  const first = await election.campaign();
  clock.stall(6_000);
  expect([first.valid, first.signal.aborted]).toEqual([false, true]);
  expect(() => first.check()).toThrow(/leadership of 'boss' \(term \d+\) is over \(expired \d+ ms ago\)/);
  expect(first.signal.reason).toMatchObject({ code: "LEASE_LOST", reason: "expired", lock: "election:boss" });
  // The store still holds the name for it.
  expect((await election.leader())?.term).toBe(first.term);
  const second = await election.campaign();
  expect(second.term > first.term).toBe(true);
  expect(await first.resign()).toBe("lapsed");
  expect(second.valid).toBe(true);
});

test("an own leadership that was lost waits at the end of the line", async () => {
  const clock = new ManualClock();
  const election = peer("late", { clock }).election("boss", { term: "5s" });
  await election.campaign();
  const [next] = await inLine("next");
  clock.stall(6_000);
  const again = election.campaign();
  const leader = (await next) as Leadership;
  await until("the late one stands in line", async () => (await election.candidates()).length === 1);
  await leader.resign();
  expect((await again).term > leader.term).toBe(true);
});

test("a campaign beside an own valid leadership waits for its end", async () => {
  const election = peer().election("boss");
  const first = await election.campaign();
  expect(await election.campaign({ wait: 30 })).toBeNull();
  expect(first.valid).toBe(true);
});

test("transfer() reaches the first in line, or the one that is named by label or id, and keeps the order of the others", async () => {
  const leader = await peer("a").election("boss").campaign();
  const [b, c, d] = (await inLine("b", "c", "d")) as [
    Promise<Leadership>,
    Promise<Leadership>,
    Promise<Leadership>,
  ];
  const line = await peer().election("boss").candidates();
  const handing = leader.transfer("c");
  expect(leader.valid).toBe(false);
  const successor = await handing;
  const third = await c;
  expect(successor).toMatchObject({ label: "c", term: third.term, id: third.id });
  expect([leader.valid, leader.signal.aborted, await leader.resign()]).toEqual([false, false, "released"]);
  expect(third.term > leader.term).toBe(true);
  const fourth = await third.transfer(line[2]?.id);
  expect(fourth).toMatchObject({ label: "d", term: (await d).term });
  expect(await (await d).transfer()).toMatchObject({ label: "b" });
  expect((await b).valid).toBe(true);
});

test("a transfer to a candidate who is not there changes nothing: the leader leads on", async () => {
  const election = peer("a").election("boss");
  const leader = await election.campaign();
  expect(await leader.transfer()).toBeNull();
  const [b] = await inLine("b");
  expect(await leader.transfer("nobody")).toBeNull();
  expect([leader.valid, leader.signal.aborted]).toEqual([true, false]);
  expect((await election.leader())?.term).toBe(leader.term);
  await leader.resign();
  expect((await b)?.valid).toBe(true);
  await expect(leader.transfer("")).rejects.toThrow(/must be the id or the label/);
});

test("a campaign beside an own transfer leaves the leadership alone, whatever becomes of the transfer", async () => {
  const election = peer("a").election("boss");
  const leader = await election.campaign();
  const handing = leader.transfer();
  const second = election.campaign();
  expect(await handing).toBeNull();
  expect([leader.valid, leader.signal.aborted]).toEqual([true, false]);
  expect((await election.leader())?.term).toBe(leader.term);
  await leader.resign();
  expect((await second).term).toBeGreaterThan(leader.term);
});

test("a transfer passes over a candidate whose process has died", async () => {
  const leader = await peer("a").election("boss").campaign();
  const [b, c] = await inLine("b", "c");
  const dead = peers[1] as Holdfast;
  b?.catch(() => {});
  await dead.close();
  const successor = await leader.transfer();
  expect(successor?.label).toBe("c");
  expect((await c)?.valid).toBe(true);
});

test("resign() during a transfer waits for its answer", async () => {
  const leader = await peer("a").election("boss").campaign();
  const [b] = await inLine("b");
  const handing = leader.transfer("b");
  await expect(leader.transfer("b")).rejects.toThrow(/given up/);
  expect(await leader.resign()).toBe("released");
  expect((await handing)?.term).toBe((await b)?.term);
});

test("observers see the present leader, each change, and nobody", async () => {
  const observed = peer().election("boss").observe();
  const next = async (): Promise<unknown> => {
    const { value } = await within(observed.next(), "the next state is observed");
    return (value as Leader | null)?.value ?? value;
  };
  expect(await next()).toBeNull();
  const leader = await peer("a").election("boss", { value: "a" }).campaign();
  expect(await next()).toBe("a");
  await inLine("b");
  await leader.resign();
  let seen = await next();
  if (seen === null) seen = await next();
  if ((seen as Leader).announced === false) seen = await next();
  expect(seen).toBe("b");
  await observed.return?.();
  expect(await observed.next()).toEqual({ done: true, value: undefined });
});

test("observers learn that a term lapsed although nobody says so", async () => {
  const [clock, later] = [new ManualClock(), new ManualClock()];
  const election = peer("", { clock: later }).election("boss", { term: "20s" });
  await peer("silent", { clock }).election("boss", { term: "20s" }).campaign(); // its clock stands still: it never renews
  const observed = election.observe();
  expect((await observed.next()).value).toMatchObject({ label: "silent" });
  const next = observed.next();
  await redis.pexpire("holdfast:{election:boss}:lock", 86_400_000); // a day of which was not its term: it is over
  let isOver = false;
  next.then(() => {
    isOver = true;
  });
  // Again and again: the observer may have set its timer before or after a turn of the clock.
  await until("the lapse is observed", () => {
    later.advance(20_000);
    return isOver;
  });
  expect((await next).value).toBeNull();
  await observed.return?.();
});

test("observers end with their signal, and with ClosedError", async () => {
  const hf = peer();
  const controller = new AbortController();
  const one = hf.election("boss").observe({ signal: controller.signal });
  const other = hf.election("boss").observe();
  await Promise.all([one.next(), other.next()]);
  controller.abort();
  expect(await one.next()).toEqual({ done: true, value: undefined });
  const end = other.next();
  await hf.close();
  await expect(end).rejects.toMatchObject({ code: "CLOSED" });
});

test("close() ends leaderships and campaigns, and leaves no timer", async () => {
  const clock = new ManualClock();
  const hf = peer("", { clock });
  const leadership = await hf.election("boss").campaign();
  const campaign = hf.election("boss").campaign();
  campaign.catch(() => {});
  await hf.close();
  expect([leadership.valid, leadership.signal.aborted]).toEqual([false, true]);
  expect(leadership.signal.reason).toMatchObject({ reason: "closed" });
  await expect(campaign).rejects.toMatchObject({ code: "CLOSED" });
  await expect(hf.election("boss").campaign()).rejects.toMatchObject({ code: "CLOSED" });
  await until("no timer is left", () => clock.pendingTimers === 0);
  expect(await leadership.resign()).toBe("lapsed");
});

test("an announcement of a later term makes the next term larger, although the lock was lost", async () => {
  const election = peer("a").election("boss");
  const first = await election.campaign();
  const seen = first.term + 3_600_000_000n;
  await peer()
    .record("election:boss")
    .put("from before the loss", { fence: { fence: seen, id: "gone" } });
  await first.resign();
  await redis.del(lockKey("holdfast", "election:boss"));
  const second = await election.campaign({ value: "after" });
  expect(second.term > seen).toBe(true);
  expect((await election.leader())?.value).toBe("after");
});

test("terms beyond 2^53 are exact", async () => {
  const top = 2n ** 53n + 1n;
  await redis.set(lockKey("holdfast", "election:boss"), `${top} `);
  const election = peer("a").election("boss");
  const first = await election.campaign();
  expect([first.term, (await election.leader())?.term]).toEqual([top + 1n, top + 1n]);
  await first.resign();
  expect((await election.campaign()).term).toBe(top + 2n);
});

test("hostile names keep elections apart, and arguments are checked", async () => {
  const hf = peer();
  const names = ["a", "a:b", "election:a", "{a}", "a{b}c", "Ω é", "x".repeat(503)];
  const leaderships = await Promise.all(names.map((name) => hf.election(name, { value: name }).campaign()));
  expect(new Set(leaderships.map(({ term, id }) => `${term} ${id}`)).size).toBe(names.length);
  for (const name of names) expect((await hf.election(name).leader())?.value).toBe(name);
  expect(() => hf.election("x".repeat(504))).toThrow(/at most 503 characters/);
  expect(() => hf.election("")).toThrow(/must not be empty/);
  expect(() => hf.election("a", { term: 50 })).toThrow(/^term /);
  expect(() => hf.election("a", { value: Number.NaN })).toThrow(/^value must be JSON/);
  expect(() => hf.election("a", { trem: 5 } as object)).toThrow(/trem is not an option/);
  await expect(hf.election("b").campaign({ value: () => {} })).rejects.toThrow(/^value must be JSON/);
  expect(() => hf.election("b").observe({ signal: 5 as never })).toThrow(/must be an AbortSignal/);
});
