/**
 * World: true time, and everything that happens in it, from one seed. Nodes run the real engine, processes run the
 * unchanged library, links carry bytes between them; no socket, no timer and no clock of this machine has a part in it.
 *
 * One event after the other, by time and then by the order in which they were set; after each one that lets code of a
 * process run, everything that its promises and ticks have queued runs dry. Same seed, same program: same `hash`.
 */
import { compileValkey, type ValkeyModule } from "@holdfast/embedded";
import type { Dice } from "../chance/dice.js";
import { diceFor } from "../chance/dice.js";
import { type Event, Events, type Owner } from "./events.js";
import { Link, type LinkOptions } from "./link.js";
import { takeMachine } from "./machine.js";
import { takeNet } from "./net.js";
import { Node, type NodeOptions } from "./node.js";
import { Process, type ProcessOptions } from "./process.js";
import { Replica } from "./replica.js";
import type { Stage } from "./stage.js";
import { type Surroundings, takeGlobals } from "./time/globals.js";
import { endTurn, inNewTurn, takeImmediates } from "./time/turn.js";
import { TraceHash } from "./trace.js";

export interface WorldOptions {
  /** Of everything that is left to chance. */
  readonly seed: number;
  /** From `compileValkey()`. */
  readonly module: ValkeyModule;
  /** Delay of links that do not say theirs. @default 0.1 to 1.5 ms */
  readonly link?: LinkOptions;
  /**
   * Real client libraries run in it: they find its clocks, timers, chance and network where they look for those of the
   * machine, and connect to a node by its name. @default false
   */
  readonly realClients?: boolean;
}

/** An error that nobody caught: a defect of what was simulated. */
export interface WorldError {
  readonly error: unknown;
  readonly process: string | null;
  readonly atMs: number;
}

const dawnMs = 1_800_000_000_000;
const yearMs = 31_536_000_000;

export class World implements Stage {
  readonly seed: number;
  readonly module: ValkeyModule;
  readonly events = new Events();
  /** Milliseconds since 1970 at time 0. */
  readonly startMs: number;
  /** Errors that nobody caught, rejections included. */
  readonly errors: WorldError[] = [];
  readonly nodes = new Map<string, Node>();
  readonly processes = new Map<string, Process>();
  /** Whose code runs now. */
  current: Owner | null = null;
  /** Messages that were delivered. */
  deliveries = 0;
  readonly #trace = new TraceHash();
  readonly #links = new Map<string, Link>();
  readonly #replicas = new Map<Node, Replica>();
  readonly #options: WorldOptions;
  /** Of links that begin now; null: as usual. */
  delayMs: readonly [shortest: number, longest: number] | null = null;
  #nowMs = 0;
  #untilMs = 0;
  #wires = 0;

  /** A world with the engine compiled. */
  static async create(options: Omit<WorldOptions, "module">): Promise<World> {
    return new World({ ...options, module: await compileValkey() });
  }

  constructor(options: WorldOptions) {
    this.seed = options.seed;
    this.module = options.module;
    this.#options = options;
    this.startMs = dawnMs + Math.floor(this.dice("start").between(0, yearMs));
  }

  /** True time, in ms since the world began. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** True time, in microseconds since 1970. */
  get trueUs(): number {
    return (this.startMs + this.#nowMs) * 1000;
  }

  /** Of everything that was delivered, and when. */
  get hash(): string {
    return this.#trace.digest;
  }

  /** A sequence of its own for each label. */
  dice(label: string): Dice {
    return diceFor(this.seed, label);
  }

  node(name: string, options?: NodeOptions): Node {
    const node = new Node(this, name, options);
    this.nodes.set(name, node);
    return node;
  }

  process(name: string, options?: ProcessOptions): Process {
    const process = new Process(this, name, options);
    this.processes.set(name, process);
    return process;
  }

  /** The network between the two; the same one each time. */
  link(process: Process, node: Node): Link {
    const key = `${process.name} ${node.name}`;
    let link = this.#links.get(key);
    if (!link) {
      link = new Link(this, process, node, this.#options.link);
      if (this.delayMs) link.delayMs = this.delayMs;
      this.#links.set(key, link);
    }
    return link;
  }

  /** The replica of a node. The first call makes it. */
  replicaOf(node: Node): Replica {
    let replica = this.#replicas.get(node);
    if (!replica) {
      replica = new Replica(this, node, this.node(`replica of ${node.name}`));
      this.#replicas.set(node, replica);
    }
    return replica;
  }

  get links(): Link[] {
    return [...this.#links.values()];
  }

  /** Does something at a time of the world, in nobody's process: a fault, a look. */
  at(timeMs: number, run: () => void): Event {
    return this.events.add(Math.max(timeMs, this.#nowMs), run, { owner: null, kind: "other", quiet: false });
  }

  /** Ends `run` after the present event. */
  stop(): void {
    this.#untilMs = this.#nowMs;
  }

  /** Lets the world run until then, or until `stop`. @throws what an event threw */
  run(untilMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      inNewTurn(() => {
        try {
          this.#untilMs = untilMs;
          this.#run();
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  nextWireId(): number {
    this.#wires += 1;
    return this.#wires;
  }

  /** Bytes have arrived. Called by wires. */
  delivered(wire: number, isAtNode: boolean, bytes: Uint8Array): void {
    this.deliveries += 1;
    this.#trace.number(this.#nowMs);
    this.#trace.word(isAtNode ? wire * 2 : wire * 2 + 1);
    this.#trace.bytes(bytes);
  }

  /** Something that belongs to the run and to its hash: a fault, the outcome of an operation. */
  note(text: string): void {
    this.#trace.number(this.#nowMs);
    this.#trace.text(text);
  }

  fail(error: unknown, owner: Owner | null): void {
    this.errors.push({ error, process: owner?.name ?? null, atMs: this.#nowMs });
  }

  #run(): void {
    const giveBack = [takeImmediates(), takeMachine()];
    if (this.#options.realClients) {
      giveBack.push(
        takeGlobals(() => this.#surroundings()),
        takeNet((host) => this.#linkTo(host)),
      );
    }
    const onRejection = (error: unknown): void => this.fail(error, this.current);
    process.on("unhandledRejection", onRejection);
    try {
      for (let event = this.events.first; event && event.timeMs <= this.#untilMs; event = this.events.first) {
        this.events.take();
        if (event.run) this.#happen(event, event.run);
      }
      this.#nowMs = Math.max(this.#nowMs, this.#untilMs);
    } finally {
      this.current = null;
      for (const give of giveBack) give();
      process.off("unhandledRejection", onRejection);
    }
  }

  #surroundings(): Surroundings {
    const process = this.current && this.processes.get(this.current.name);
    if (!process) throw new Error("real clients run in a process: see process.run()");
    const { monoMs, wallMs } = process;
    const fraction = (): number => process.random.fraction();
    return { monoMs, wallMs, fraction, after: (delayMs, callback) => process.after(delayMs, callback) };
  }

  #linkTo(host: string): Link | null {
    const process = this.current && this.processes.get(this.current.name);
    const node = this.nodes.get(host);
    return process && node ? this.link(process, node) : null;
  }

  #happen(event: Event, run: () => void): void {
    this.#nowMs = event.timeMs;
    const { owner } = event;
    if (owner && !owner.admits(event)) return;
    this.current = owner;
    run();
    if (!event.quiet) endTurn();
    this.current = null;
  }
}
