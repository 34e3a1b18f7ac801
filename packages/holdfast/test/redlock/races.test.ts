/**
 * What reaches a claim over several servers in another order than it hopes for: votes that are split, late, refused or taken away.
 * No time that the library counts ends within a test, unless the test moves its clock: a claim that is served has waited for none.
 */
import { FaultProxy, inTime, ManualClock, RedisStore, UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast, type Lease, NoQuorumError } from "holdfast";
import { Redlock, type RedlockOptions } from "holdfast/redlock";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

const NODES = 3;
const NAME = "n";
const LOCK = `holdfast:{${NAME}}:lock`;
/** Longer than a test may take; so is a tenth of it, the longest that a call may take. */
const LONG = "2h";
const LONGEST_CALL = "10m";
/** Of a process whose clock a test moves. */
const TIMEOUT_MS = 250;
const LOOK_MS = 1_000;

let servers: EmbeddedValkey[];
/** Past every proxy. */
let direct: Redis[];
let stores: RedisStore[];

beforeAll(async () => {
  servers = await Promise.all(Array.from({ length: NODES }, () => EmbeddedValkey.start()));
  direct = servers.map(({ url }) => new Redis(url));
  stores = direct.map(
    (client) => new RedisStore((...words) => client.call(...(words as [string])), "holdfast"),
  );
});
afterEach(async () => {
  for (const each of processes.splice(0)) await each.end();
  await Promise.all(direct.map((client) => client.flushall()));
});
afterAll(async () => {
  for (const client of direct) client.disconnect();
  await Promise.all(servers.map((server) => server.stop()));
});

interface Process {
  readonly redlock: Redlock;
  /** Its way to each node. */
  readonly wires: readonly FaultProxy[];
  end(): Promise<void>;
}
const processes: Process[] = [];

/** @param clock that a test moves: calls end after a short time on it */
async function newProcess(clock?: ManualClock): Promise<Process> {
  const wires = await Promise.all(servers.map(({ port }) => FaultProxy.start({ host: "127.0.0.1", port })));
  const clients = wires.map(({ url }) => new Redis(url, { retryStrategy: () => 5 }));
  for (const client of clients) client.on("error", () => {});
  const terms: RedlockOptions = clock ? { clock, callTimeout: TIMEOUT_MS } : { callTimeout: LONGEST_CALL };
  const redlock = new Redlock(clients, { quarantine: 0, maxTtl: LONG, ...terms });
  await redlock.nodes();
  const end = async (): Promise<void> => {
    for (const wire of wires) wire.heal();
    await (clock ? inTime(redlock.close(), clock) : redlock.close());
    for (const client of clients) client.disconnect();
    await Promise.all(wires.map((wire) => wire.close()));
  };
  const made = { redlock, wires, end };
  processes.push(made);
  return made;
}

/** Who holds each node; undefined: nobody. */
async function holders(): Promise<(string | undefined)[]> {
  const states = await Promise.all(direct.map((client) => client.get(LOCK)));
  return states.map((state) => state?.slice(17).split(" ")[0] || undefined);
}

async function granted(place: number): Promise<void> {
  await until(`node ${place} is granted`, async () => (await holders())[place] !== undefined);
}

/** Nobody holds it or stands in line. Ids whose requests have no answer are banned for a while. */
async function assertClean(): Promise<void> {
  await until("nothing is left of it", async () => {
    const left = await Promise.all(stores.map((store) => store.residue(NAME)));
    const [keys, held] = [left.flat().filter((key) => !key.endsWith(":banned")), await holders()];
    return keys.length === 0 && held.every((holder) => holder === undefined);
  });
}

const wire = (each: Process, place: number): FaultProxy => each.wires[place] as FaultProxy;

test("three claims with one node each: all are served, and nobody waits for a lease to run out", async () => {
  const rivals = [await newProcess(), await newProcess(), await newProcess()];
  for (const [place, rival] of rivals.entries()) {
    for (let node = 0; node < NODES; node++)
      if (node !== place) wire(rival, node).set({ up: "hold" }, "commands");
  }
  const served = rivals.map(({ redlock }) =>
    redlock.mutex(NAME, { ttl: LONG, localTurns: 1 }).run(async (lease) => lease.fence, { wait: LONG }),
  );
  for (let node = 0; node < NODES; node++) await granted(node);
  for (const { wires } of rivals) for (const each of wires) each.heal();
  const fences = await Promise.all(served);
  expect(new Set(fences).size).toBe(NODES);
  await assertClean();
});

test("a node that answers after the verdict is a seat like the others, and is given back with them", async () => {
  const one = await newProcess();
  wire(one, 2).set({ down: "hold" }, "commands");
  const lease = await one.redlock.mutex(NAME, { ttl: LONG }).acquire({ wait: LONG });
  await granted(2);
  wire(one, 2).set({ down: "pass" }, "commands");
  const votes = await one.redlock.votes(lease);
  expect(votes?.map(({ vote }) => vote)).toEqual(["for", "for", "for"]);
  expect(await lease.release()).toBe("released");
  await assertClean();
});

test("a node that answers after the release is made to forget the grant", async () => {
  const one = await newProcess();
  wire(one, 2).set({ down: "hold" }, "commands");
  const lease = await one.redlock.mutex(NAME, { ttl: LONG }).acquire({ wait: LONG });
  expect(await lease.release()).toBe("released");
  await granted(2);
  wire(one, 2).set({ down: "pass" }, "commands");
  await assertClean();
  // Nor was the id banned, for which everybody else would have to look for a while.
  expect(await direct[2]?.exists(`holdfast:{${NAME}}:banned`)).toBe(0);
});

test("a request that arrives after its time-out, and after the release, takes nothing", async () => {
  const clock = new ManualClock();
  const one = await newProcess(clock);
  wire(one, 2).set({ up: "hold" }, "commands");
  const lease = await one.redlock.mutex(NAME, { ttl: LONG }).acquire({ wait: LONG });
  clock.advance(TIMEOUT_MS);
  const votes = await one.redlock.votes(lease);
  expect(votes?.map(({ vote }) => vote)).toEqual(["for", "for", "against"]);
  expect(await lease.release()).toBe("released");
  wire(one, 2).set({ up: "pass" }, "commands");
  await until("the clean-up has banned it", async () => {
    clock.advance(1);
    return (await direct[2]?.exists(`holdfast:{${NAME}}:banned`)) === 1;
  });
  expect((await holders())[2]).toBe(undefined);
});

test("an attempt is told as soon as two of three refuse, and gives back what the third grants", async () => {
  const [one, two] = [await newProcess(), await newProcess()];
  wire(one, 2).set({ up: "hold" }, "commands");
  const lease = await one.redlock.mutex(NAME, { ttl: LONG }).acquire({ wait: LONG });
  wire(two, 2).set({ down: "hold" }, "commands");
  expect(await two.redlock.mutex(NAME).tryAcquire()).toBe(null);
  await granted(2);
  wire(two, 2).set({ down: "pass" }, "commands");
  await until("it is given back", async () => (await holders())[2] === undefined);
  expect(await lease.release()).toBe("released");
});

test("a grant that is gone when it is to be confirmed counts no more", async () => {
  const one = await newProcess();
  // The first node gives the largest token, so that the second one has to confirm it.
  const future = String(Date.now() * 1_000 + 60_000_000);
  await direct[0]?.set(LOCK, `${future} `);
  for (const node of [1, 2]) wire(one, node).set({ down: "hold" }, "commands");
  const acquired = one.redlock.mutex(NAME, { ttl: LONG }).tryAcquire();
  for (let node = 0; node < NODES; node++) await granted(node);
  await direct[1]?.del(LOCK);
  const sight = new Holdfast(direct[1] as Redis, UNHURRIED);
  const thief = await sight.mutex(NAME, { ttl: LONG }).acquire();
  wire(one, 1).set({ down: "pass" }, "commands");
  await wire(one, 1).when("the confirm is sent", () => wire(one, 1).scriptCalls.length >= 2);
  wire(one, 2).set({ down: "pass" }, "commands");
  const lease = (await acquired) as Lease;
  expect(lease.fence).toBeGreaterThan(BigInt(future));
  const tops = await Promise.all(
    direct.map(async (client) => BigInt((await client.get(LOCK))?.slice(0, 16) ?? "0")),
  );
  expect([tops[0], tops[2]].every((top) => (top as bigint) >= lease.fence)).toBe(true);
  await thief.release();
  await sight.close();
  await lease.release();
});

test("a lock that is taken by force at one node goes on; at two, it is lost at once", async () => {
  const one = await newProcess();
  const lease = await one.redlock.mutex(NAME, { ttl: LONG }).acquire({ wait: LONG });
  await one.redlock.votes(lease);
  // A process listens once it has held something for a while.
  await until("it listens", async () => {
    const counts = await Promise.all(
      direct.map((client) => client.call("PUBSUB", "CHANNELS") as Promise<string[]>),
    );
    return counts.every((channels) => channels.length > 0);
  });
  const force = async (node: number): Promise<void> => {
    const hf = new Holdfast(direct[node] as Redis, UNHURRIED);
    await hf.locks.inspection.forceRelease(NAME, 0n);
    await hf.close();
  };
  await force(0);
  await until("the seat is gone", async () => (await one.redlock.votes(lease))?.[0]?.vote === "against");
  expect(lease.valid).toBe(true);
  await force(1);
  await until("it is lost", () => !lease.valid);
  expect(() => lease.check()).toThrow(/revoked/);
  await assertClean();
});

/** That two of three nodes are away. */
async function noticed({ redlock }: Process): Promise<void> {
  const areAway = async (): Promise<boolean> =>
    (await redlock.nodes()).filter(({ membership }) => membership !== "voting").length === 2;
  await until("the breaks are noticed", areAway);
}

test("an attempt is told at once that two of three nodes are away, and which", async () => {
  const one = await newProcess();
  wire(one, 0).refuse();
  wire(one, 2).refuse();
  await noticed(one);
  const error = await one.redlock
    .mutex(NAME)
    .tryAcquire()
    .catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(NoQuorumError);
  expect((error as NoQuorumError).nodes.map(({ place }) => place)).toEqual([1, 3]);
  // Nothing was asked of the one that is there.
  expect(await holders()).toEqual([undefined, undefined, undefined]);
});

test("a wait outlasts an outage of two of three nodes, and ends with NoQuorumError when the outage does not end", async () => {
  const one = await newProcess();
  wire(one, 0).refuse();
  wire(one, 2).refuse();
  await noticed(one);
  const mutex = one.redlock.mutex(NAME, { ttl: LONG });
  await expect(mutex.acquire({ wait: 600 })).rejects.toBeInstanceOf(NoQuorumError);
  const waits = mutex.acquire({ wait: LONG });
  await new Promise((resolve) => setImmediate(resolve)); // it has found two of three away
  wire(one, 2).heal();
  expect(await (await waits).release()).toBe("released");
  wire(one, 0).heal();
  await assertClean();
});

test("waits that are given up in the middle of everything leave nothing at any node", async () => {
  const [one, two] = [await newProcess(), await newProcess()];
  const held = await one.redlock.mutex(NAME, { ttl: LONG }).acquire({ wait: LONG });
  for (let round = 0; round < 12; round++) {
    const controller = new AbortController();
    wire(two, round % NODES).set({ [round % 2 ? "up" : "down"]: "hold" }, "commands");
    const waits = two.redlock.mutex(NAME, { ttl: LONG }).acquire({ wait: LONG, signal: controller.signal });
    waits.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, round * 7));
    controller.abort();
    await expect(waits).rejects.toThrow();
    wire(two, round % NODES).heal();
  }
  expect(await held.release()).toBe("released");
  await assertClean();
});

test("a claim that was closed while it asked, waited or held leaves nothing at any node", async () => {
  const one = await newProcess();
  const held = await one.redlock.mutex(NAME, { ttl: LONG }).acquire({ wait: LONG });
  for (const pauseMs of [0, 1, 5, 50]) {
    const two = await newProcess();
    const waits = two.redlock.mutex(NAME, { ttl: LONG }).acquire({ wait: LONG });
    waits.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    await two.redlock.close();
    await expect(waits).rejects.toThrow(/close/);
  }
  await one.redlock.close();
  expect(held.valid).toBe(false);
  await assertClean();
});

test("a node that forgets a grant while the claim collects is asked again", async () => {
  const [one, two] = [await newProcess(), await newProcess()];
  // One node each: neither has a quorum, and the third is out of reach of both.
  for (const each of [one, two]) wire(each, 2).set({ up: "hold" }, "commands");
  wire(one, 1).set({ up: "hold" }, "commands");
  wire(two, 0).set({ up: "hold" }, "commands");
  const served = [one, two].map(({ redlock }) =>
    redlock.mutex(NAME, { ttl: LONG, localTurns: 1 }).run(async (lease) => lease.fence, { wait: LONG }),
  );
  await granted(0);
  await granted(1);
  await direct[0]?.flushall();
  for (const { wires } of [one, two]) for (const each of wires) each.heal();
  const fences = await Promise.all(served);
  expect(new Set(fences).size).toBe(2);
  await assertClean();
});

test("a node that hangs keeps no claim from the line of a node that denied it", async () => {
  const two = await newProcess();
  const strangers = [
    new Holdfast(direct[0] as Redis, UNHURRIED),
    new Holdfast(direct[1] as Redis, UNHURRIED),
  ];
  const [first] = await Promise.all(strangers.map((hf) => hf.mutex(NAME, { ttl: LONG }).acquire()));
  wire(two, 2).set({ down: "hold" }, "commands");
  // The first node denies it, the third hangs: the second alone would be enough together with the third.
  await strangers[1]?.close();
  const waits = two.redlock.mutex(NAME, { ttl: LONG }).acquire({ wait: LONG });
  await until("it is in line", async () => (await stores[0]?.waiting(NAME)) === 1);
  await first?.release();
  await (await waits).release();
  wire(two, 2).heal();
  await strangers[0]?.close();
  await assertClean();
});

test("a lock that nobody else wants costs one request to each node: all give the token that was proposed", async () => {
  const one = await newProcess();
  const mutex = one.redlock.mutex(NAME, { ttl: LONG });
  // A node that is slow to hear of it has a clock beyond that token. Then a confirm follows.
  await until("no node is slow", async () => {
    for (const each of one.wires) each.forget();
    const lease = await mutex.acquire();
    await one.redlock.votes(lease);
    const cost = one.wires.reduce((sum, each) => sum + each.scriptCalls.length, 0);
    await lease.release();
    return cost === NODES;
  });
});

test("a claim that reaches a minority alone keeps nobody else from a quorum", async () => {
  const [lonely, other] = [await newProcess(), await newProcess()];
  for (const each of [lonely, other]) wire(each, 2).refuse();
  wire(lonely, 1).refuse();
  const mutex = other.redlock.mutex(NAME, { ttl: LONG, localTurns: 1 });
  const first = await mutex.acquire({ wait: LONG });
  const waits = lonely.redlock.mutex(NAME, { ttl: LONG }).acquire({ wait: LONG });
  waits.catch(() => {});
  await until("it is in line where it can", async () => (await stores[0]?.waiting(NAME)) === 1);
  await first.release();
  for (let turn = 0; turn < 5; turn++) await (await mutex.acquire({ wait: LONG })).release();
  // It gets its turn when it can.
  wire(lonely, 1).heal();
  await (await waits).release();
  for (const each of [lonely, other]) wire(each, 2).heal();
  await assertClean();
});

test("one server that is given twice is told of, and not that its other place holds the name", async () => {
  const [client, again] = [new Redis(servers[0]?.url ?? ""), new Redis(servers[0]?.url ?? "")];
  const redlock = new Redlock([client, direct[0] as Redis, direct[1] as Redis, again], {
    quarantine: 0,
    callTimeout: LONGEST_CALL,
  });
  const error = await redlock
    .mutex(NAME)
    .tryAcquire()
    .catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(NoQuorumError);
  expect(String(error)).toContain("it is the same server as node");
  await redlock.close();
  client.disconnect();
  again.disconnect();
});

test("a claim that does not hear two of three nodes, which hear it, keeps nobody else from a quorum", async () => {
  const clock = new ManualClock();
  const [deaf, other] = [await newProcess(clock), await newProcess()];
  for (const node of [1, 2]) wire(deaf, node).set({ down: "drop" });
  const waits = deaf.redlock.mutex(NAME, { ttl: LONG }).acquire({ wait: LONG });
  waits.catch(() => {});
  for (let node = 0; node < NODES; node++) await granted(node);
  clock.advance(TIMEOUT_MS);
  const mutex = other.redlock.mutex(NAME, { ttl: LONG, localTurns: 1 });
  for (let turn = 0; turn < 3; turn++) {
    await (await inTime(mutex.acquire({ wait: LONG }), clock)).release();
    clock.advance(LOOK_MS);
  }
  for (const each of deaf.wires) each.heal();
  const lease = await inTime(waits, clock);
  await inTime(lease.release(), clock);
  await assertClean();
});
