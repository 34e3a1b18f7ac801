/** What one seed decides for locks over several nodes: how many there are, and faults that strike one, some or all of them. */
import { type Dice, diceFor } from "../../../../chance/dice.js";
import { drawFaultsOverNodes } from "../../faults-over-nodes.js";
import { type Draw, type Fault, nodeNames } from "../../plan.js";
import type { Scene } from "../../scene.js";
import { type LockPlan, type LockProcess, withLinger } from "../mutex/plan.js";

export interface QuorumPlan extends LockPlan {
  /** All callers ask at the same moments, this far apart, so that each of them may get a node; null: each when it likes. */
  readonly beatMs: number | null;
}

/** A run over several nodes under way. */
export type QuorumScene = Scene<QuorumPlan>;

const locks = ["account:13", "stock:7"] as const;
/** This share of the seeds has no fault at all: there the strictest rules hold. */
const calmShare = 0.15;
/** In this share several callers ask at one moment. */
const crowdShare = 0.3;
/** Of callers that ask at one moment. A node that one of them keeps without a majority shows only while a lease there would last. */
const crowdTtlsMs = [600, 2_000, 2_000, 4_000, 4_000] as const;
/** In this share a minority of the nodes is gone from early on until the end of the faults. */
const minorityShare = 0.25;
/** And this share of those with faults goes on undisturbed after them. */
const calmAfterShare = 0.25;
/** In this share of those with faults the nodes restart one after the other, faster than leases expire. */
const rollingShare = 0.15;
const closeShare = 0.15;
const firstMs = 300;

/** What a node may do all the time: be gone, stand still, or refuse everybody. */
const lasting = [
  "node crash",
  "restart with data",
  "node pause",
  "LOADING answers",
  "NOPERM answers",
] as const;

export function drawQuorumPlan(seed: number, kinds: readonly Draw[]): QuorumPlan {
  const dice = diceFor(seed, "plan of redlock");
  const isCrowd = dice.chance(crowdShare);
  const nodes = dice.pick(isCrowd ? [3, 4, 4, 5] : [3, 3, 3, 4, 5]);
  const isCalm = dice.chance(isCrowd ? 2 * calmShare : calmShare);
  const losesMinority = !isCalm && dice.chance(minorityShare);
  const chaosMs = losesMinority ? dice.whole(7_000, 10_000) : dice.whole(2_500, 6_000);
  const ttlsMs = losesMinority ? [300, 600] : isCrowd ? crowdTtlsMs : [300, 600, 600, 1_200, 2_000];
  const processes = Array.from({ length: isCrowd ? dice.whole(4, 6) : dice.whole(2, 4) }, (_, place) =>
    processPlan(dice, place, ttlsMs),
  );
  const closing = dice.chance(closeShare) ? dice.pick(processes) : null;
  const closesAtMs = dice.whole(firstMs, chaosMs);
  const planned = withLinger(
    diceFor(seed, "linger"),
    processes.map((process) => (process === closing ? { ...process, closesAtMs } : process)),
  );
  const spread = { processes: planned, nodes: nodeNames({ nodes }), chaosMs, firstMs };
  const gone = losesMinority ? minority(dice, spread) : [];
  const most = losesMinority ? dice.whole(0, 2) : dice.whole(1, 8);
  const rolling = dice.chance(rollingShare) ? restarts(dice, spread.nodes, chaosMs) : [];
  const drawn = drawFaultsOverNodes(dice, kinds, { ...spread, most });
  const faults = isCalm ? [] : [...gone, ...rolling, ...drawn];
  return {
    workload: "redlock",
    seed,
    nodes,
    beatMs: isCrowd ? dice.whole(60, 250) : null,
    chaosMs,
    calmMs: dice.chance(calmAfterShare) ? dice.whole(1_000, 2_500) : 0,
    thinkMs: isCrowd ? 15 : dice.pick([40, 100, 250]),
    locks: locks.slice(0, dice.chance(0.7) ? 1 : 2),
    processes: planned,
    faults: faults.sort((a, b) => a.atMs - b.atMs),
  };
}

function processPlan(dice: Dice, place: number, ttlsMs: readonly number[]): LockProcess {
  const ttlMs = dice.pick(ttlsMs);
  return {
    name: `p${place + 1}`,
    ttlMs,
    lockDelayMs: dice.chance(0.1) ? dice.whole(1, 500) : 0,
    localTurns: dice.pick([1, 1, 2, 16]),
    maxHoldMs: dice.chance(0.08) ? ttlMs * 2 : null,
    lingerMs: 0,
    callTimeoutMs: dice.pick([100, 250, 1_000]),
    client: {
      unanswered: dice.pick(["resend", "resend", "reject", "forget"]),
      offlineQueue: dice.chance(0.8),
    },
    callers: dice.chance(0.3) ? 2 : 1,
    takesPairs: false,
    closesAtMs: null,
  };
}

interface Places {
  readonly processes: readonly LockProcess[];
  readonly nodes: readonly string[];
  readonly chaosMs: number;
}

/** As many nodes as a majority can do without. Each of them fails in its own way; or each process reaches others. */
function minority(dice: Dice, { processes, nodes, chaosMs }: Places): Fault[] {
  const most = Math.ceil(nodes.length / 2) - 1;
  const some = (): string[] => dice.shuffle([...nodes]).slice(0, dice.whole(1, most));
  const lastingly = (kind: string, target: string, node?: string): Fault => {
    const atMs = dice.whole(firstMs, 1_000);
    const fault = { kind, atMs, forMs: chaosMs - atMs, target, value: 1 };
    return node === undefined ? fault : { ...fault, node };
  };
  if (dice.chance(0.6)) return some().map((target) => lastingly(dice.pick(lasting), target));
  const kind = dice.pick(["partition", "deaf", "mute"]);
  return processes.flatMap(({ name }) => some().map((node) => lastingly(kind, name, node)));
}

/** All nodes, or all but one, each of them with its data or without. */
function restarts(dice: Dice, nodes: readonly string[], chaosMs: number): Fault[] {
  const firstAtMs = dice.whole(1_000, chaosMs - 1_000);
  const gapMs = dice.pick([1, 30, 150, 400]);
  const kind = dice.pick(["node crash", "node crash", "restart with old data", "restart with data"]);
  return dice
    .shuffle([...nodes])
    .slice(dice.whole(0, 1))
    .map((target, place) => {
      const value = kind === "restart with old data" ? dice.whole(1, 800) : 0;
      return { kind, atMs: firstAtMs + place * gapMs, forMs: dice.whole(1, 50), target, value };
    });
}
