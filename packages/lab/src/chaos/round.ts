/** Round: servers and workers of their own, some seconds of chaos, then peace, in which everything must come to an end. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { Dice, diceFor } from "../chance/dice.js";
import { History } from "../history/history.js";
import type { Operation } from "../history/operation.js";
import type { Span } from "../history/span.js";
import type { ClockShim } from "./clock-shim.js";
import { Crew } from "./crew.js";
import { type Played, play } from "./director.js";
import { NetworkLink } from "./link.js";
import type { Nemesis } from "./nemeses/nemesis.js";
import { roster } from "./nemeses/roster.js";
import type { Scene } from "./scene.js";
import { drawSchedule } from "./schedule.js";
import { type ChaosServer, startEmbedded, startProcess, startVault, type Vault } from "./server.js";
import { monoMs, pauseMs } from "./time.js";
import { canaryNames } from "./worker/task.js";
import { redlock } from "./workloads/redlock.js";

export interface RoundTerms {
  readonly seed: number;
  readonly chaosMs: number;
  /** Path of a server program, or the embedded engine. */
  readonly server: { readonly title: string; readonly program: string } | "embedded";
  /** For the server without faults. */
  readonly vaultProgram: string;
  /** Empty: all that are possible. */
  readonly only: readonly string[];
  readonly folder: string;
  readonly shim: ClockShim | string;
  /** The folder of another clone, whose library every second worker runs; null: all run that of this one. */
  readonly against: string | null;
  /** Workloads beside the mutex, of which a round has a few. */
  readonly workloads: readonly string[];
}

/** What happened. All times count from the beginning of the chaos. */
export interface Round extends Played {
  readonly seed: number;
  readonly history: History;
  /** When the last fault was over. */
  readonly healedMs: number;
  readonly endMs: number;
  readonly ttlMs: number;
  readonly callTimeoutMs: number;
  readonly deathsMs: ReadonlyMap<string, number>;
  /** What did not come to an end in peace, or was left behind. */
  readonly remains: readonly string[];
  /** Locks of canaries that nobody will ever have again. */
  readonly eternal: readonly string[];
  readonly off: ReadonlyMap<string, string>;
  /** Workloads beside the mutex. */
  readonly workloads: readonly string[];
}

const WORKERS = 5;
/** Servers without faults that vote together with the one under fault. */
const OTHER_NODES = 2;
/** Workloads beside the mutex in one round: more of them would leave too little of the machine to each. */
const MOST_WORKLOADS = 3;
const CALLERS = [2, 4, 8] as const;
/** Shorter and longer than leases: late answers are to be met on both sides. */
const CALL_TIMEOUTS_MS = [300, 600, 2_000] as const;
const CANARY_TTL_MS = 500;
const TTLS_MS = [
  [300, 600],
  [400, 1_000],
  [800, 1_500],
] as const;
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 12_000;
const PROBE_WAIT_MS = 8_000;
const CLOSE_TIMEOUT_MS = 8_000;
const EXIT_TIMEOUT_MS = 5_000;

export async function playRound(terms: RoundTerms): Promise<Round> {
  const dice = new Dice(terms.seed);
  mkdirSync(terms.folder, { recursive: true });
  const link =
    terms.server === "embedded" ? "the embedded engine has no namespace" : NetworkLink.lay(linkId(dice));
  const openLink = typeof link === "string" ? null : link;
  const shim = typeof terms.shim === "string" ? null : terms.shim;
  const vault = await startVault(terms.vaultProgram);
  const others: Vault[] = [];
  let server: ChaosServer | null = null;
  let crew: Crew | null = null;
  try {
    const clock = shim?.clock(terms.folder, "server") ?? null;
    server =
      terms.server === "embedded"
        ? await startEmbedded()
        : await startProcess({ program: terms.server.program, clock, link: openLink });
    const ttlsMs = dice.pick(TTLS_MS);
    const work = {
      callers: dice.pick(CALLERS),
      keys: dice.pick([["a"], ["a", "b"], ["a", "b", "c", "d"]]),
      ttlsMs,
      callTimeoutMs: dice.pick(CALL_TIMEOUTS_MS),
      canaries: canaryNames,
      canaryTtlMs: CANARY_TTL_MS,
      workloads: diceFor(terms.seed, "workloads").shuffle(terms.workloads).slice(0, MOST_WORKLOADS),
    };
    if (work.workloads.includes(redlock.name))
      while (others.length < OTHER_NODES) others.push(await startVault(terms.vaultProgram));
    const { folder, against } = terms;
    const nodes = others.map(({ path }) => path);
    const plan = { seed: dice.seed(), workers: WORKERS, folder, server, vault: vault.path, nodes, against };
    crew = await Crew.gather({ ...plan, link: openLink, shim, work });
    const scene: Scene = { server, slots: crew.slots, link: openLink, ttlMs: Math.max(...ttlsMs) };
    return await runScene(terms, dice.seed(), scene, crew);
  } finally {
    await crew?.dismiss();
    await server?.stop();
    await vault.stop();
    for (const other of others) await other.stop();
    openLink?.remove();
  }
}

async function runScene(terms: RoundTerms, seed: number, scene: Scene, crew: Crew): Promise<Round> {
  await untilWorking(crew, terms.folder);
  const startMs = monoMs();
  const { possible, off } = sift(scene, terms.only);
  const schedule = drawSchedule({
    seed,
    lengthMs: terms.chaosMs,
    slots: crew.slots.length,
    nemeses: possible,
  });
  const played = await play(schedule, scene);
  await pauseMs(Math.max(startMs + terms.chaosMs - monoMs(), 0));
  crew.heal();
  const healedMs = monoMs();
  const remains = await windUp(scene, crew);
  const endMs = monoMs();
  const eternal = await withoutTtl(scene.server, (key) => /^canary:[^:]+$/.test(key));
  const since = (timeMs: number) => timeMs - startMs;
  return {
    faults: played.faults.map((fault) => ({
      ...fault,
      fromMs: since(fault.fromMs),
      toMs: since(fault.toMs),
    })),
    skipped: played.skipped,
    seed: terms.seed,
    history: readHistory(crew, terms.folder, since),
    healedMs: since(healedMs),
    endMs: since(endMs),
    ttlMs: scene.ttlMs,
    callTimeoutMs: crew.slots[0]?.worker.task.callTimeoutMs ?? 0,
    deathsMs: deathsOf(crew, since),
    remains,
    eternal,
    off,
    workloads: crew.slots[0]?.worker.task.workloads ?? [],
  };
}

function linkId(dice: Dice): string {
  return `hf${process.pid.toString(36)}${dice.whole(0, 1_295).toString(36)}`;
}

/** What can be done here, and why the rest cannot. */
function sift(
  scene: Scene,
  only: readonly string[],
): { readonly possible: Nemesis[]; readonly off: ReadonlyMap<string, string> } {
  const off = new Map<string, string>();
  const wanted = roster.filter(({ kind }) => only.length === 0 || only.includes(kind));
  const possible = wanted.filter((nemesis) => {
    const reason = nemesis.whyNot(scene);
    if (reason !== null) off.set(nemesis.kind, reason);
    return reason === null;
  });
  return { possible, off };
}

async function untilWorking(crew: Crew, folder: string): Promise<void> {
  const untilMs = monoMs() + START_TIMEOUT_MS;
  for (const worker of crew.alive) {
    while (!isWorking(join(folder, `${worker.name}.ndjson`))) {
      if (worker.diedMs !== null) throw new Error(`${worker.name} ended as it began: ${worker.exit}`);
      if (monoMs() > untilMs) throw new Error(`${worker.name} does not work after ${START_TIMEOUT_MS} ms`);
      await pauseMs(20);
    }
  }
}

function isWorking(journal: string): boolean {
  try {
    return readFileSync(journal, "utf8").includes('"hold"');
  } catch {
    return false; // not there yet
  }
}

/** Everything stops, each lock can be had, everything closes, every process ends by itself, and nothing is left in the server. */
async function windUp(scene: Scene, crew: Crew): Promise<string[]> {
  const remains: string[] = [];
  const each = (what: () => Promise<unknown>[]) =>
    Promise.all(what().map((one) => one.catch((error) => remains.push(String(error)))));
  const { alive } = crew;
  await each(() => alive.map((worker) => worker.ask("stop", STOP_TIMEOUT_MS)));
  const probeTimeoutMs = PROBE_WAIT_MS * 8;
  await each(() => alive.map((worker) => worker.ask("probe", probeTimeoutMs, { waitMs: PROBE_WAIT_MS })));
  await each(() => alive.map((worker) => worker.ask("close", CLOSE_TIMEOUT_MS)));
  for (const worker of alive) {
    if (!(await worker.ends(EXIT_TIMEOUT_MS))) remains.push(`${worker.name} does not end by itself`);
    else if (worker.exit !== "code 0") remains.push(`${worker.name} ended with ${worker.exit}`);
  }
  remains.push(...(await leftInServer(scene)));
  return remains;
}

/**
 * A record has no end, unless its writer asks for one. A queue remembers what it is, and its dead letters; the free places of
 * processes that died go with the next message.
 */
const LASTING = /\}:(record:|(queue|lanes)(:(idle|dead|letters))?$)/;

async function leftInServer({ server, ttlMs }: Scene): Promise<string[]> {
  const stuck = await withoutTtl(server, (key) => key.startsWith("holdfast:") && !LASTING.test(key));
  const remains = stuck.map((key) => `${key} has no ttl`);
  const client = new Redis("path" in server.way ? { path: server.way.path } : server.way);
  const holdfast = new Holdfast(client);
  try {
    const untilMs = monoMs() + ttlMs * 2;
    let held: string[] = [];
    do {
      held = [];
      const inspector = await holdfast.inspector();
      for await (const { name, holder } of inspector.locks()) if (holder) held.push(`${name} is still held`);
      if (held.length > 0) await pauseMs(50);
    } while (held.length > 0 && monoMs() < untilMs);
    return [...remains, ...held];
  } finally {
    await holdfast.close();
    client.disconnect();
  }
}

async function withoutTtl(server: ChaosServer, isMeant: (key: string) => boolean): Promise<string[]> {
  const keys = ((await server.command("KEYS", "*")) as string[]).filter(isMeant);
  const ttls = await Promise.all(keys.map((key) => server.command("PTTL", key)));
  return keys.filter((_, place) => Number(ttls[place]) === -1);
}

type Since = (timeMs: number) => number;

function readHistory(crew: Crew, folder: string, since: Since): History {
  const texts = crew.everybody.flatMap(({ name }) => {
    try {
      return [readFileSync(join(folder, `${name}.ndjson`), "utf8")];
    } catch {
      return []; // killed before it had begun anything
    }
  });
  return History.of(History.merge(texts).operations.map((one) => shifted(one, since)));
}

function shifted(one: Operation, since: Since): Operation {
  const { invMs, retMs, validUntilMs, endMs, value } = one;
  const stall = one.f === "stall" ? (value as Span | undefined) : undefined;
  return {
    ...one,
    invMs: since(invMs),
    retMs: retMs === null ? null : since(retMs),
    ...(validUntilMs === undefined ? {} : { validUntilMs: since(validUntilMs) }),
    ...(endMs === undefined ? {} : { endMs: since(endMs) }),
    ...(stall ? { value: { fromMs: since(stall.fromMs), toMs: since(stall.toMs) } } : {}),
  };
}

/** Of the workers that died in the chaos. */
function deathsOf(crew: Crew, since: Since): Map<string, number> {
  const died = crew.everybody.filter(({ diedMs, exit }) => diedMs !== null && exit === "SIGKILL");
  return new Map(died.map(({ name, diedMs }) => [name, since(diedMs as number)]));
}
