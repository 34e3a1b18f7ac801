/** Rounds of records that the chain does not have: reads, pairs of one tag, updates that leave, nest and are given up. */
import { DeadlockError, type VersionedRecord } from "holdfast";
import type { Operation } from "../../../../history/operation.js";
import type { Linked, RecordWritten } from "../../../../history/record-rules.js";
import type { Breach } from "../../../../history/violation.js";
import { type Caller, type Rounds, round, type Scene } from "../../workload.js";

const tag = "pair";
const pair = ["left", "right"] as const;

export function otherKinds(caller: Caller, chain: VersionedRecord<Linked>): Rounds["kinds"] {
  return {
    "read many": round(() => readMany(caller)),
    "write a pair": round(() => writePair(caller)),
    "leave as it is": round(() => leave(caller, chain)),
    nest: round(() => nest(caller, chain), 0.2),
    "give up": round(
      (afterMs: number) => giveUp(caller, chain, afterMs),
      0.5,
      (dice) => [dice.pick([0, 1, 20])],
    ),
  };
}

async function readMany(caller: Caller): Promise<void> {
  const { records } = caller.hf;
  await caller.attempt("read", tag, () => records.getMany<string>(pair.map((name) => ({ name, tag }))));
}

async function writePair(caller: Caller): Promise<void> {
  const { hf, dice, name, scene } = caller;
  const value = `${name}/${dice.whole(0, 1_000_000)}`;
  const more = dice.chance(0.3) ? { keep: "1h" as const } : {};
  const condition = dice.chance(0.3) ? { version: 0n } : {};
  const fence = { fence: BigInt(Math.round(scene.world.nowMs)), id: name };
  const holder = dice.chance(0.2) ? { fence } : {};
  // One that is refused refuses both.
  const entries = pair.map((one, place) => ({
    name: one,
    tag,
    value,
    ...more,
    ...holder,
    ...(place === 0 && condition),
  }));
  await caller.attempt("write pair", tag, () => hf.records.putMany(entries));
}

/** V7, between two scripts. */
export function judgePair(scene: Scene): void {
  if (scene.hasForgotten) return;
  const { node } = scene;
  const [left, right] = node.peekAll(
    ...pair.map((name) => ["HGET", `holdfast:{${tag}}:record:${name}`, "value"]),
  );
  if (left !== right) scene.fail("V7", `the pair is ${left} and ${right}`);
}

/** An update that returns nothing reads. */
async function leave(caller: Caller, chain: VersionedRecord<Linked>): Promise<void> {
  await caller.attempt("read", chain.name, () => chain.update(() => undefined), {
    withinMs: caller.plan.callTimeoutMs * 10 + 11_000,
    found: ({ version }) => ({ value: String(version) }),
  });
}

/** An update within the same one would wait for itself. */
async function nest(caller: Caller, chain: VersionedRecord<Linked>): Promise<void> {
  let inner: unknown = null;
  const call = () =>
    chain.update(async () => {
      inner = await chain.update(() => undefined).catch((error: unknown) => error);
      return undefined;
    });
  const done = await caller.attempt("nest", chain.name, call, {
    withinMs: caller.plan.callTimeoutMs * 10 + 11_000,
  });
  if (done.type === "ok" && !(inner instanceof DeadlockError))
    caller.scene.fail("error", `an update within itself ended with ${inner}`);
}

async function giveUp(caller: Caller, chain: VersionedRecord<Linked>, afterMs: number): Promise<void> {
  const signal = caller.givesUpAfter(afterMs);
  const hang = (): Promise<undefined> => new Promise(() => {});
  await caller.attempt("give up", chain.name, () => chain.update(hang, { signal }), {
    withinMs: caller.plan.callTimeoutMs * 10 + 11_000,
    signal,
  });
}

/** V6: a read that began after a write was answered is no older. The operations are of a time in which nothing was lost. */
export function checkReads(operations: Iterable<Operation>): Breach[] {
  const all = [...operations];
  const writes = all.filter(({ f, type }) => f === "write" && type === "ok");
  return all.flatMap((read) => {
    if (read.f !== "read" || read.type !== "ok" || typeof read.value !== "string") return [];
    const newer = writes.find(
      ({ key, retMs, value }) =>
        key === read.key &&
        (retMs ?? Number.POSITIVE_INFINITY) < read.invMs &&
        BigInt((value as RecordWritten).version ?? 0) > BigInt(read.value as string),
    );
    if (!newer) return [];
    const message = `${read.process} read version ${read.value}, after ${newer.process} had written a newer one`;
    return [
      { property: "V6", key: read.key, operations: [newer, read], message, atMs: read.retMs ?? read.invMs },
    ];
  });
}
