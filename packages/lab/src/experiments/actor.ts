/** Actor: a process of a trial. What it does is written down for the checkers, and drawn. */
import type {
  AcquireOptions,
  Election,
  Holdfast,
  HoldfastOptions,
  Leadership,
  Lease,
  ReleaseResult,
} from "holdfast";
import type { Recorder } from "../history/recorder.js";
import type { Span } from "../history/span.js";
import { holdfastOn } from "../sim/holdfast-on.js";
import type { Node } from "../sim/node.js";
import type { Process } from "../sim/process.js";
import type { Reply } from "../sim/resp.js";
import { SimClient, type SimClientOptions } from "../sim/sim-client.js";
import { Possession, type PossessionTerms } from "./possession.js";
import type { Held, Holder, Scene } from "./scene.js";

export interface AskOptions {
  /** What is drawn. @default the words, and the answer. "": nothing */
  readonly label?: string;
}

/** A mutex, or one side of a read-write lock. */
export interface Acquirable {
  readonly name: string;
  acquire(options?: AcquireOptions): Promise<Lease>;
}

/** How an acquire is drawn. */
export interface DrawAcquire {
  granted(lease: Lease): void;
  gaveUp(): void;
}

/** A call is drawn when its answer is there; one whose process was held up meanwhile, when it should have been. */
const mostTravelMs = 20;

export class Actor implements Holder {
  readonly name: string;
  readonly process: Process;
  readonly trial: Scene;
  readonly recorder: Recorder;
  /** What it believes to hold. */
  readonly possessions = new Set<Held>();
  readonly #pauses: Span[] = [];
  readonly #clients = new Map<Node, SimClient>();

  /** Made by `trial.actor(name)`. */
  constructor(trial: Scene, process: Process) {
    this.trial = trial;
    this.process = process;
    this.name = process.name;
    this.recorder = trial.history.recorder(process.name, () => process.nowMs);
  }

  get nowMs(): number {
    return this.process.nowMs;
  }

  run(work: () => unknown): void {
    this.process.run(work);
  }

  sleep(forMs: number): Promise<void> {
    return this.process.sleep(forMs);
  }

  /** Its runtime stops, here and now, between two lines of its code. */
  freeze(forMs: number, why: string): void {
    const fromMs = this.nowMs;
    for (const possession of this.possessions) possession.look();
    this.process.stall(forMs);
    this.#pauses.push({ fromMs, toMs: fromMs + forMs });
    const note = `${this.name} is paused: ${why}`;
    this.trial.picture.bars.push({ lane: this.name, fromMs, toMs: fromMs + forMs, kind: "pause", note });
  }

  /** Dies, and its connections with it. */
  die(why: string): void {
    for (const possession of this.possessions) possession.end();
    this.trial.deathsMs.set(this.name, this.nowMs);
    this.trial.mark(this.name, "crash", `${this.name} dies: ${why}`, this.nowMs);
    this.process.kill();
  }

  client(node: Node, options?: SimClientOptions): SimClient {
    let client = this.#clients.get(node);
    if (!client) {
      client = new SimClient(this.trial.world.link(this.process, node), options);
      this.#clients.set(node, client);
    }
    return client;
  }

  holdfast(node: Node, options: HoldfastOptions & { client?: SimClientOptions } = {}): Holdfast {
    return holdfastOn(this.trial.world.link(this.process, node), options);
  }

  /** Sends a command as it stands, and draws it. */
  async ask(node: Node, words: readonly string[], { label }: AskOptions = {}): Promise<Reply> {
    const sentMs = this.nowMs;
    const text = label ?? words.join(" ");
    try {
      const reply = await this.client(node).call(...words);
      if (text !== "") this.drawCall(node.name, sentMs, label ?? `${text} → ${told(reply)}`);
      return reply;
    } catch (error) {
      const receivedMs = null;
      this.trial.picture.arrows.push({ from: this.name, to: node.name, sentMs, receivedMs, label: text });
      throw error;
    }
  }

  /** A call that was answered: one arrow, with the answer on it. Returns when it arrived. */
  drawCall(to: string, sentMs: number, label: string): number {
    const wasHeldUp = this.#pauses.some(({ fromMs, toMs }) => fromMs < this.nowMs && toMs > sentMs);
    const receivedMs = wasHeldUp ? Math.min(this.nowMs, sentMs + mostTravelMs) : this.nowMs;
    this.trial.picture.arrows.push({ from: this.name, to, sentMs, receivedMs, label });
    return receivedMs;
  }

  /** Waits from now on. Returns the end of it. */
  drawWait(fromMs = this.nowMs): () => void {
    const { bars } = this.trial.picture;
    const bar = { lane: this.name, fromMs, kind: "wait", note: "" } as const;
    const at = bars.push({ ...bar, toMs: Infinity }) - 1;
    return () => {
      bars[at] = { ...bar, toMs: this.nowMs };
    };
  }

  /** From now on it believes that it holds the lock. */
  possess(terms: PossessionTerms): Possession {
    return new Possession(this, terms);
  }

  /** Acquires by a recipe, and believes that it holds the lock as soon as it knows. */
  async takes(key: string, recipe: () => Promise<Omit<PossessionTerms, "key">>): Promise<Possession> {
    const pending = this.recorder.begin("acquire", key);
    const terms = await recipe();
    const held = this.possess({ key, ...terms });
    pending.ok({ token: held.token });
    return held;
  }

  /** Acquires with holdfast, drawn: the request, the wait, the grant. */
  acquire(mutex: Acquirable, at: Node, options?: AcquireOptions): Promise<Lease> {
    const draw = this.#drawAcquire(at, `acquire ${mutex.name}`);
    return this.acquires(mutex, options, {
      granted: ({ fence }) => draw(`granted, token ${this.trial.picture.saw(fence)}`),
      gaveUp: () => draw("gives up"),
    });
  }

  /** Acquires with holdfast. */
  async acquires(mutex: Acquirable, options: AcquireOptions | undefined, draw: DrawAcquire): Promise<Lease> {
    const pending = this.recorder.begin("acquire", mutex.name);
    try {
      const lease = await mutex.acquire(options);
      const { fence, id } = lease;
      pending.ok({ token: fence, nonce: id, validUntilMs: this.nowMs + lease.remainingMs });
      draw.granted(lease);
      return lease;
    } catch (error) {
      draw.gaveUp();
      pending.info(String(error));
      throw error;
    }
  }

  /** Campaigns with holdfast, drawn: the request, the wait, the election. */
  async campaign<Value>(election: Election<Value>, at: Node): Promise<Leadership<Value>> {
    const pending = this.recorder.begin("acquire", election.name);
    const draw = this.#drawAcquire(at, `campaign ${election.name}`);
    const leadership = await election.campaign();
    const { term, id } = leadership;
    pending.ok({ token: term, nonce: id, validUntilMs: this.nowMs + leadership.remainingMs });
    draw(`elected, term ${this.trial.picture.saw(term)}`);
    return leadership;
  }

  /** The question, the time in line if there is one, the answer. */
  #drawAcquire(at: Node, what: string): (answer: string) => void {
    const askedMs = this.nowMs;
    let endWait: (() => void) | undefined;
    const cancel = this.trial.afterTrue(mostTravelMs, () => {
      const seen = at.isUp ? "not free, waits in line" : "no answer yet, waits";
      const answer = { from: this.name, to: at.name, sentMs: askedMs, receivedMs: askedMs + 1 };
      this.trial.picture.arrows.push({ ...answer, label: `${what} → ${seen}` });
      endWait = this.drawWait(askedMs + 1);
    });
    return (answer) => {
      cancel();
      if (!endWait) {
        this.drawCall(at.name, askedMs, `${what} → ${answer}`);
        return;
      }
      endWait();
      const [sentMs, receivedMs, label] = [this.nowMs - 0.5, this.nowMs, `${what}: ${answer}`];
      this.trial.picture.arrows.push({ from: at.name, to: this.name, sentMs, receivedMs, label });
    };
  }

  /** Gives a lease back, drawn: what became of it. */
  async release(lease: Lease, at: Node): Promise<ReleaseResult> {
    const pending = this.recorder.begin("release", lease.name);
    const sentMs = this.nowMs;
    const result = await lease.release();
    if (result === "unknown") pending.info("no answer");
    else if (result === "released") pending.ok();
    else pending.fail("lapsed");
    if (this.nowMs > sentMs) this.drawCall(at.name, sentMs, `release → ${result}`);
    else this.trial.mark(this.name, "note", `${this.name} releases: the lease has ${result}`, sentMs);
    return result;
  }
}

function told(reply: Reply): string {
  return reply === null ? "nil" : Array.isArray(reply) ? `[${reply.map(told).join(", ")}]` : String(reply);
}
