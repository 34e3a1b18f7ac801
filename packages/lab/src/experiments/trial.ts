/** One recipe in one world: who takes part, what they did, and what of it is drawn. */
import { HoldfastError } from "holdfast";
import { History } from "../history/history.js";
import type { Operation } from "../history/operation.js";
import type { Node, NodeOptions } from "../sim/node.js";
import type { ProcessOptions } from "../sim/process.js";
import { World } from "../sim/world.js";
import type { Lane, Mark } from "../timeline/timeline.js";
import { Actor } from "./actor.js";
import type { Evidence, Guarded } from "./check.js";
import { Picture } from "./picture.js";
import type { Scene } from "./scene.js";

export interface Told {
  readonly sentence: string;
  readonly figures: Readonly<Record<string, number | string>>;
}

export class Trial implements Scene, Evidence {
  readonly world: World;
  readonly history = new History();
  readonly picture = new Picture();
  readonly actors: Actor[] = [];
  readonly deathsMs = new Map<string, number>();
  /** What is to be protected. */
  readonly accounts: Guarded[] = [];
  /** After the run: what happened, in a sentence or two and in numbers. Set by the recipe. */
  tell: () => Told = () => ({ sentence: "", figures: {} });
  /** What the experiment itself found wrong, by looking. */
  readonly faults: string[] = [];
  /** What the experiment counts by itself. */
  readonly counts: Record<string, number> = {};
  readonly errors: string[] = [];
  #grants = 0n;

  /** @param realClients whether client libraries run in it, some ten times slower */
  static async open(seed: number, realClients = false): Promise<Trial> {
    return new Trial(await World.create({ seed, realClients }));
  }

  private constructor(world: World) {
    this.world = world;
  }

  get nowMs(): number {
    return this.world.nowMs;
  }

  get operations(): readonly Operation[] {
    return this.history.operations;
  }

  /** A server in the world, with a lane. */
  server(name: string, options?: NodeOptions, kind: Lane["kind"] = "server"): Node {
    this.picture.lanes.push({ id: name, kind });
    return this.world.node(name, options);
  }

  /** A process in the world, with a lane. */
  actor(name: string, options?: ProcessOptions): Actor {
    this.picture.lanes.push({ id: name, kind: "process" });
    return this.#cast(new Actor(this, this.world.process(name, options)));
  }

  /** The same without a lane: one of a crowd. */
  extra(name: string): Actor {
    return this.#cast(new Actor(this, this.world.process(name)));
  }

  #cast(actor: Actor): Actor {
    this.actors.push(actor);
    return actor;
  }

  /** A choice of the seed, the same one in every recipe of an experiment. */
  between(low: number, high: number, what: string): number {
    return this.world.dice(`experiment ${what}`).whole(low, high);
  }

  /** The server has lost what it knew: whoever holds, only believes so from now on. */
  forget(): void {
    for (const { possessions } of this.actors) for (const possession of possessions) possession.forgotten();
  }

  mark(lane: string, kind: Mark["kind"], label: string, atMs = this.nowMs): void {
    this.picture.marks.push({ lane, atMs, kind, label });
  }

  count(what: string, by = 1): void {
    this.counts[what] = (this.counts[what] ?? 0) + by;
  }

  /** The place of a grant in the order of grants: for recipes without tokens, only the observer knows it. */
  nextGrant(): bigint {
    this.picture.isWithoutTokens = true;
    this.#grants += 1n;
    return this.#grants;
  }

  /** Calls back after a time of the world. Returns the cancellation. */
  afterTrue(delayMs: number, run: () => void): () => void {
    const event = this.world.at(this.nowMs + delayMs, run);
    return () => {
      event.run = null;
    };
  }

  async run(untilMs: number): Promise<void> {
    await this.world.run(untilMs);
    for (const { possessions } of this.actors) for (const possession of possessions) possession.finish();
    for (const { process, atMs, error } of this.world.errors) {
      // Anything else is a mistake in the experiment.
      if (!(error instanceof HoldfastError))
        throw new Error(`seed ${this.world.seed}: ${process} failed at ${atMs} ms`, { cause: error });
      this.errors.push(`${process} was stopped at ${Math.round(atMs)} ms by ${error.code}: ${error.message}`);
    }
  }
}
