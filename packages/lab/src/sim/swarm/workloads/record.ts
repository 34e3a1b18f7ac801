/** Records: callers update one, write others on conditions and under fences, delete, and watch. */
import type { VersionedRecord } from "holdfast";
import { checkFence } from "../../../history/fence.js";
import type { Operation } from "../../../history/operation.js";
import {
  checkConditions,
  checkLinks,
  checkVersions,
  type Linked,
  type RecordWritten,
} from "../../../history/record-rules.js";
import type { Details } from "../../../history/recorder.js";
import { type Caller, type Rounds, round, type Scene, type Work, type Workload } from "../workload.js";
import { wasClockWrong } from "./clock-faults.js";
import { recordCanaries } from "./record/canaries.js";
import { checkReads, judgePair, otherKinds } from "./record/others.js";
import { drawTerms, type RecordTerms } from "./record/terms.js";
import { Watchers } from "./record/watchers.js";

/** Changed by `update()` and by puts that name a version. */
const chain = "chain";
/** Put and deleted, with and without conditions. */
const fleeting = "fleeting";
/** Read and written under a fence. */
const fenced = "fenced";
/** By then a watcher has looked again whatever it has heard. */
const observedMs = 8_000;
/** The share of runs in which watchers are given that time. */
const patientShare = 0.3;

export const record: Workload = {
  name: "record",
  about: "callers update a record, write others on conditions and under fences, delete, and watch",
  rules: {
    V1: "versions rise with every write, also after a delete",
    V2: "a write that names a version follows from it",
    V3: "no update is lost",
    V4: "the change of an update is made once",
    V5: "a watcher ends with the last state",
    V6: "what is read is no older than a write that was answered before",
    V7: "records of one tag are written together",
    L3: "an overtaken holder writes nothing",
  },
  invariants: {
    "the version is above that of every earlier value, also of one that was deleted": "V1",
    "the fence is that of the newest holder that was served, and lives as long as what it guards": "L3",
    "records of one tag were written together": "V7",
    "the last write of each process is known, so that its copy changes nothing": "V4",
  },
  canaries: recordCanaries,
  begin,
};

function begin(scene: Scene): Work {
  const run: Run = {
    scene,
    watchers: new Watchers(scene),
    afterOf: new Map(),
    tries: new Map(),
    writers: [],
    tokens: 0n,
    done: 0,
    endsSlowly: scene.world.dice("ends").chance(patientShare),
    terms: drawTerms(scene),
  };
  return {
    join(caller) {
      const writer = new Writer(caller, run);
      run.writers.push(writer);
      return writer;
    },
    look: () => judgePair(scene),
    judge: () => judge(run),
    progress: () => run.done,
    lastMs: (observedMs + 30_000) * 2,
    // A record without `keep` has no end.
    mayStay: (key) => key.includes("}:record:"),
  };
}

interface Run {
  readonly scene: Scene;
  readonly watchers: Watchers;
  /** Of each value that anybody tried to write, the one from which it was made. */
  readonly afterOf: Map<string, string | null>;
  /** The values that each update tried to write, one after the other. */
  readonly tries: Map<string, string[]>;
  readonly writers: Writer[];
  /** The last token of the fenced record that was dealt out. */
  tokens: bigint;
  done: number;
  readonly endsSlowly: boolean;
  readonly terms: RecordTerms;
}

/** How soon an update must succeed once the faults are over. */
const settleMs = 11_000;
const againMs = 100;

class Writer implements Rounds {
  readonly #caller: Caller;
  readonly #run: Run;
  readonly #chain: VersionedRecord<Linked>;
  readonly #fleeting: VersionedRecord<string>;
  readonly #fenced: VersionedRecord<string>;
  #values = 0;
  #isDone = false;
  readonly kinds: Rounds["kinds"] = {
    update: round(
      (times: number) => this.#update(times),
      2,
      (dice) => [dice.whole(1, 6)],
    ),
    replace: round(() => this.#replace()),
    come: round(
      (isFirst: boolean) => this.#come(isFirst),
      1,
      (dice) => [dice.chance(0.5)],
    ),
    "write with a fence": round(() => this.#writeFenced()),
  };

  constructor(caller: Caller, run: Run) {
    this.#caller = caller;
    this.#run = run;
    const { hf, process } = caller;
    const { terms } = run;
    this.#chain = hf.record<Linked>(chain, terms.chain);
    this.#fleeting = hf.record<string>(fleeting);
    this.#fenced = hf.record<string>(fenced, terms.fenced);
    this.kinds = { ...this.kinds, ...otherKinds(caller, this.#chain) };
    if (run.scene.world.dice(`watches ${caller.name}`).chance(0.6))
      process.run(() => run.watchers.follow(caller, this.#chain));
  }

  async last(): Promise<void> {
    const { scene, process } = this.#caller;
    // A connection that a fault has broken may cost the first ones their answer.
    const settledMs = process.nowMs + settleMs;
    let update = await this.#updateOnce(settleMs);
    while (update.type !== "ok" && !this.#caller.isClosing && process.nowMs < settledMs) {
      await process.sleep(againMs);
      update = await this.#updateOnce(settleMs);
    }
    if (update.type !== "ok" && !this.#caller.isClosing)
      scene.fail("P1", `the last update of ${this.#caller.name} failed: ${update.error}`);
    this.#isDone = true;
    if (!this.#run.endsSlowly) return;
    const isLeft = ({ isWorking }: Writer): boolean => isWorking;
    const untilMs = process.nowMs + observedMs + 30_000;
    while (this.#run.writers.some(isLeft) && process.nowMs < untilMs) await process.sleep(100);
    if (this.#run.writers.some(isLeft) || this.#caller.isClosing) return;
    await process.sleep(observedMs);
    if (!this.#caller.isClosing) this.#run.watchers.judge(this.#chain.key, observedMs);
  }

  /** It lives, and is yet to do its last round. */
  get isWorking(): boolean {
    return !this.#isDone && !this.#caller.isClosing && this.#caller.process.state !== "dead";
  }

  async #update(times: number): Promise<void> {
    const { plan } = this.#caller;
    for (let left = times; left > 0 && !this.#caller.isOver; left -= 1)
      await this.#updateOnce(plan.callTimeoutMs * 10 + 11_000);
  }

  async #updateOnce(withinMs: number) {
    const { dice, process } = this.#caller;
    const tries: string[] = [];
    let link: Linked | null = null;
    const { update } = this.#run.terms;
    const call = () =>
      this.#chain.update(async (value) => {
        if (dice.chance(0.3)) await process.sleep(dice.between(0, 30));
        link = this.#linked(value?.id ?? null);
        tries.push(link.id);
        return link;
      }, update);
    const attempt = await this.#caller.attempt("write", chain, call, {
      withinMs,
      found: ({ version }) => writtenOf(version, null, link),
    });
    this.#run.tries.set(`${this.#caller.name} ${attempt.operation.seq}`, tries);
    if (attempt.type === "ok") this.#run.done += 1;
    return attempt;
  }

  /** Reads, and writes what follows, if nobody else has written. */
  async #replace(): Promise<void> {
    const { dice, process } = this.#caller;
    const read = await this.#caller.attempt("get", chain, () => this.#chain.get());
    if (read.type !== "ok") return;
    await process.sleep(dice.between(0, 30));
    const version = read.value?.version ?? 0n;
    const link = this.#linked(read.value?.value.id ?? null);
    await this.#put(chain, () => this.#chain.put(link, { version }), version, link);
  }

  /** Something comes, and goes. */
  async #come(isFirst: boolean): Promise<void> {
    const { dice, process } = this.#caller;
    const { keep } = this.#run.terms;
    const put = () => this.#fleeting.put(this.#caller.name, { ...keep, ...(isFirst && { version: 0n }) });
    const version = await this.#put(fleeting, put, isFirst ? 0n : null, null);
    await process.sleep(dice.between(0, 20));
    const condition = version !== null && dice.chance(0.5) ? { version } : {};
    if (dice.chance(0.7))
      await this.#caller.attempt("delete", fleeting, () => this.#fleeting.delete(condition));
  }

  async #writeFenced(): Promise<void> {
    const { dice, process, name } = this.#caller;
    this.#run.tokens += 1n;
    const fence = { fence: this.#run.tokens, id: name };
    const details = { token: fence.fence, nonce: fence.id };
    const entered = await this.#caller.attempt("enter", fenced, () => this.#fenced.get({ fence }), {
      details,
    });
    await process.sleep(dice.between(0, 60));
    if (entered.type === "fail" || this.#run.terms.turnsBack(dice)) return;
    if (this.#run.terms.waitsLong(dice)) await process.sleep(dice.between(0, 1_500));
    const version = entered.type === "ok" && dice.chance(0.5) ? (entered.value?.version ?? 0n) : null;
    const condition = version === null ? { fence } : { fence, version };
    const isUpdate = dice.chance(0.2);
    const put = (): Promise<{ readonly version: bigint }> =>
      isUpdate ? this.#fenced.update(() => name, { fence }) : this.#fenced.put(name, condition);
    const withinMs = isUpdate ? { withinMs: this.#caller.plan.callTimeoutMs * 10 + settleMs } : {};
    await this.#put(fenced, put, isUpdate ? null : version, null, { details, ...withinMs });
  }

  async #put(
    key: string,
    call: () => Promise<{ readonly version: bigint }>,
    expected: bigint | null,
    link: Linked | null,
    more: { readonly details?: Details; readonly withinMs?: number } = {},
  ): Promise<bigint | null> {
    const found = ({ version }: { readonly version: bigint }) => writtenOf(version, expected, link);
    const attempt = await this.#caller.attempt("write", key, call, { ...more, found });
    if (attempt.type !== "ok") return null;
    this.#run.done += 1;
    return attempt.value.version;
  }

  #linked(after: string | null): Linked {
    const id = `${this.#caller.name}/${++this.#values}`;
    this.#run.afterOf.set(id, after);
    return { id, after };
  }
}

function writtenOf(version: bigint, expected: bigint | null, link: Linked | null): { value: RecordWritten } {
  return {
    value: { version: String(version), expected: expected === null ? null : String(expected), link },
  };
}

function judge(run: Run): void {
  const { scene, terms } = run;
  // What is kept for a time is forgotten by a clock that is set.
  const keep: Record<string, unknown> = {
    [chain]: terms.chain.keep,
    [fleeting]: terms.keep.keep,
    [fenced]: terms.fenced.keep,
  };
  const mayForget = (key: string): boolean => scene.clockSteps.length > 0 && keep[key] !== undefined;
  for (const all of keptTimes(scene)) {
    const operations = all.filter(({ key }) => !mayForget(key));
    const found = [checkVersions, checkConditions, checkLinks, checkReads].flatMap((check) =>
      check(operations),
    );
    for (const { property, message, atMs, operations: shown } of found)
      scene.fail(property, message, atMs, shown);
  }
  if (scene.hasForgotten) return;
  for (const { property, message, atMs, operations } of checkFence(
    scene.history.operations.filter(({ key }) => key === fenced),
  )) {
    const [newer, older] = operations;
    if (!newer || !older || !mayBeOver(run, newer.invMs, older.retMs ?? older.invMs))
      scene.fail(property, message, atMs, operations);
  }
  if (!mayForget(chain)) judgeChain(run);
}

/** A fence lasts for the record's `keep` after the newest holder came, by the clock of the server. */
function mayBeOver({ scene, terms }: Run, cameMs: number, nowMs: number): boolean {
  const { fenceMs } = terms;
  return nowMs - cameMs >= fenceMs || (Number.isFinite(fenceMs) && wasClockWrong(scene, cameMs, nowMs));
}

/** The operations of each time in which the node lost nothing. */
function keptTimes(scene: Scene): Operation[][] {
  const borders = [Number.NEGATIVE_INFINITY, ...scene.losses, Number.POSITIVE_INFINITY];
  return borders
    .slice(1)
    .map((toMs, place) =>
      scene.history.operations.filter(
        ({ invMs, retMs }) => invMs >= (borders[place] as number) && (retMs ?? invMs) <= toMs,
      ),
    );
}

/** The value at the end, and all from which it was made: every update that was confirmed is among them, and none twice. */
function judgeChain({ scene, afterOf, tries, terms }: Run): void {
  if (!scene.node.isUp) return;
  const text = scene.node.peek("HGET", `holdfast:{${terms.chain.tag ?? chain}}:record:${chain}`, "value");
  const made = new Set<string>();
  let id = typeof text === "string" ? (JSON.parse(text.slice(1)) as Linked).id : null;
  while (id !== null && !made.has(id)) {
    made.add(id);
    id = afterOf.get(id) ?? null;
  }
  for (const { key, f, type, value, process } of scene.history.operations) {
    if (key !== chain || f !== "write" || type !== "ok") continue;
    const { link } = value as RecordWritten;
    if (link && !made.has(link.id))
      scene.fail("V3", `${link.id}, which ${process} wrote, is not in the last value`);
  }
  for (const [update, ids] of tries) {
    const there = ids.filter((one) => made.has(one));
    if (there.length > 1)
      scene.fail("V4", `the update ${update} was made ${there.length} times: ${there.join(", ")}`);
  }
}
