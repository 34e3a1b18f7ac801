/** What the workers told, as a history for the checkers, and as a picture. */
import { History } from "../../history/history.js";
import type { Operation } from "../../history/operation.js";
import type { Span } from "../../history/span.js";
import type { Evidence, Guarded } from "../check.js";
import { Picture } from "../picture.js";
import type { Side } from "../verdict.js";
import type { WorkerEvent } from "./task.js";
import type { WorkerProcess } from "./worker-process.js";

export interface RealTimes {
  readonly beganMs: number;
  readonly endedMs: number;
  /** When Ann was paused. */
  readonly pause: Span;
  readonly ttlMs: number;
}

interface RealEvidence extends Evidence {
  readonly picture: Picture;
  readonly account: Guarded;
}

const lock = "lock";

/** @param balance what is in the account in the end */
export function evidenceOf(
  side: Side,
  workers: readonly WorkerProcess[],
  times: RealTimes,
  balance: number,
): RealEvidence {
  const granted = workers.flatMap(({ events }) => events.filter(({ event }) => event === "granted"));
  const telling = new Telling(
    side,
    times,
    granted.map(({ atMs }) => atMs),
  );
  for (const worker of workers) telling.add(worker);
  return telling.evidence(workers, balance);
}

class Telling {
  readonly #side: Side;
  readonly #times: RealTimes;
  readonly #history = new History();
  readonly #picture = new Picture();
  readonly #grantedMs: readonly number[];
  #grants = 0n;

  /** @param grantedMs when anybody was granted the lock */
  constructor(side: Side, times: RealTimes, grantedMs: readonly number[]) {
    this.#grantedMs = grantedMs;
    this.#side = side;
    this.#times = times;
    this.#picture.isWithoutTokens = side === "naive";
  }

  add({ task: { name }, events }: WorkerProcess): void {
    const at = (event: WorkerEvent["event"]): WorkerEvent | undefined =>
      events.find((one) => one.event === event);
    const granted = at("granted");
    this.#picture.lanes.push({ id: name, kind: "process" });
    if (!granted) return;
    this.#grants += 1n;
    const token = granted.token === undefined ? this.#grants : BigInt(granted.token);
    const asked = at("asks") ?? granted;
    const wrote = at("written") ?? at("refused");
    this.#record(name, 0, "acquire", lock, asked, granted, { token });
    this.#hold(name, events, granted, token);
    this.#draw(
      name,
      asked,
      granted,
      "Redis",
      this.#side === "naive"
        ? "asks for the lock → has it"
        : `asks for the lock → has it, token ${this.#picture.saw(token)}`,
    );
    const read = at("read");
    const entrance = this.#side === "naive" ? "read" : "enter";
    if (read) this.#record(name, 2, entrance, "balance", granted, read, { token, nonce: name });
    if (read)
      this.#draw(
        name,
        granted,
        read,
        "storage",
        `${entrance === "enter" ? "enters, " : ""}reads ${read.value}`,
      );
    if (wrote) this.#write(name, at("checked") ?? granted, wrote, token);
    const released = at("released");
    if (wrote && released) this.#draw(name, wrote, released, "Redis", `release → ${released.result}`);
    for (const lost of events.filter(({ event }) => event === "lost")) {
      const label = `${name} learns that the lease is over (${lost.result})`;
      this.#picture.marks.push({ lane: name, atMs: this.#ms(lost.atMs), kind: "lost", label });
    }
  }

  evidence(workers: readonly WorkerProcess[], balance: number): RealEvidence {
    const { pause, endedMs } = this.#times;
    const all = workers.flatMap(({ task, events }) =>
      events.map((event) => ({ ...event, amount: task.amount })),
    );
    const written = all.filter(({ event }) => event === "written");
    const confirmed = written.reduce((sum, { amount }) => sum + amount, 0);
    const refusals = all.filter(({ event }) => event === "refused").length;
    const account = { confirmed, balance, missing: confirmed - balance, payments: written.length, refusals };
    for (const [id, kind] of [
      ["Redis", "server"],
      ["storage", "resource"],
    ] as const)
      this.#picture.lanes.push({ id, kind });
    this.#picture.bars.push({
      ...{ lane: "Ann", kind: "pause", note: "Ann is paused: SIGSTOP, after her last look at the lease" },
      ...{ fromMs: this.#ms(pause.fromMs), toMs: this.#ms(pause.toMs), endNote: "SIGCONT: Ann goes on" },
    });
    return {
      operations: this.#history.operations,
      picture: this.#picture,
      accounts: [account],
      account,
      ...{ nowMs: this.#ms(endedMs), counts: {}, faults: [], errors: [], deathsMs: new Map() },
    };
  }

  #hold(name: string, events: readonly WorkerEvent[], granted: WorkerEvent, token: bigint): void {
    const last = events.find(({ event }) => event === "written" || event === "refused") ?? granted;
    const believedMs =
      events.findLast(({ validUntilMs }) => validUntilMs !== undefined)?.validUntilMs ?? Infinity;
    // A recipe does not know when its lease began at the server; over it is when the next one has it.
    const nextMs = this.#grantedMs.filter((atMs) => atMs > granted.atMs);
    const mostMs = Math.min(granted.atMs + this.#times.ttlMs, ...nextMs);
    const leaseMs = this.#side === "naive" ? mostMs : believedMs;
    const endMs = Math.min(last.atMs, believedMs);
    this.#record(name, 1, "hold", lock, granted, last, { token, endMs: this.#ms(endMs) });
    const overMs = Math.min(last.atMs, leaseMs);
    const [fromMs, toMs] = [this.#ms(granted.atMs), this.#ms(overMs)];
    const endNote = overMs < last.atMs ? `${name}'s lease is over` : "";
    this.#picture.bars.push({
      lane: name,
      fromMs,
      toMs,
      kind: "hold",
      label: this.#picture.saw(token),
      note: "",
      endNote,
    });
    if (overMs >= endMs) return;
    const note = `${name} still believes that the lock is held`;
    this.#picture.bars.push({ lane: name, fromMs: toMs, toMs: this.#ms(endMs), kind: "stale", note });
  }

  #write(name: string, from: WorkerEvent, wrote: WorkerEvent, token: bigint): void {
    const isRefused = wrote.event === "refused";
    const { value, atMs } = wrote;
    // It was sent at most a moment before its answer, however long the process was paused before.
    const sent = { ...from, atMs: Math.max(from.atMs, name === "Ann" ? this.#times.pause.toMs : from.atMs) };
    const more = { token, nonce: name, value, ...(isRefused ? { error: "STALE_TOKEN" } : {}) };
    this.#record(name, 3, "write", "balance", sent, wrote, more, isRefused ? "fail" : "ok");
    this.#draw(name, { ...wrote, atMs: atMs - 1 }, wrote, "storage", `writes ${value}`);
    if (!isRefused) return;
    const picture = this.#picture;
    const label = `refused: token ${picture.saw(token)} is older than ${picture.saw(BigInt(wrote.seen ?? 0))}`;
    picture.marks.push({ lane: "storage", atMs: this.#ms(atMs), kind: "refused", label });
  }

  #record(
    process: string,
    seq: number,
    f: string,
    key: string,
    from: WorkerEvent,
    to: WorkerEvent,
    more: Partial<Operation>,
    type: Operation["type"] = "ok",
  ): void {
    this.#history.add({
      process,
      seq,
      f,
      key,
      type,
      invMs: this.#ms(from.atMs),
      retMs: this.#ms(to.atMs),
      ...more,
    });
  }

  #draw(from: string, sent: WorkerEvent, received: WorkerEvent, to: string, label: string): void {
    const [sentMs, receivedMs] = [Math.max(sent.atMs, received.atMs - 2), received.atMs].map((ms) =>
      this.#ms(ms),
    );
    this.#picture.arrows.push({
      from,
      to,
      sentMs: sentMs as number,
      receivedMs: receivedMs as number,
      label,
    });
    if (received.atMs - sent.atMs > 100 && received.event === "granted") {
      const bar = { lane: from, fromMs: this.#ms(sent.atMs), toMs: receivedMs as number } as const;
      this.#picture.bars.push({ ...bar, kind: "wait", note: `${from} asks for the lock, and waits` });
    }
  }

  #ms(monoMs: number): number {
    return monoMs - this.#times.beganMs;
  }
}
