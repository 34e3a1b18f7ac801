/** One world, one server, and programs that use it, by a recipe or by holdfast. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Holdfast, HoldfastEvents, HoldfastOptions } from "holdfast";
import { expect, onTestFinished } from "vitest";
import { History } from "../../src/history/history.js";
import type { Operation } from "../../src/history/operation.js";
import { holdfastOn } from "../../src/sim/holdfast-on.js";
import type { Link } from "../../src/sim/link.js";
import type { Node } from "../../src/sim/node.js";
import type { Process, ProcessOptions } from "../../src/sim/process.js";
import { SimClient, type SimClientOptions } from "../../src/sim/sim-client.js";
import { World } from "../../src/sim/world.js";

export class Scene {
  readonly world: World;
  readonly node: Node;
  readonly history = new History();

  static async open(seed = 1): Promise<Scene> {
    return new Scene(await World.create({ seed }));
  }

  /** One in which real client libraries run: they connect to the host "redis". */
  static async ofRealClients(seed = 1): Promise<Scene> {
    return new Scene(await World.create({ seed, realClients: true }));
  }

  private constructor(world: World) {
    this.world = world;
    this.node = world.node("redis");
  }

  program(name: string, options?: ProcessOptions): Program {
    return new Program(this, this.world.process(name, options));
  }

  /** Lets the world run. A rejection that nobody handled fails the test. */
  async until(ms: number): Promise<void> {
    await this.world.run(ms);
    expect(this.world.errors).toEqual([]);
  }

  get operations(): readonly Operation[] {
    return this.history.operations;
  }

  /** How many scripts the server has run for its clients since it started. */
  get scriptsRun(): number {
    const stats = String(this.node.peek("INFO", "commandstats"));
    const calls = [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+).*?failed_calls=(\d+)/gm)];
    return calls.reduce((sum, [, all, failed]) => sum + Number(all) - Number(failed), 0);
  }
}

export class Program {
  readonly process: Process;
  readonly #scene: Scene;
  #seq = 0;

  constructor(scene: Scene, process: Process) {
    this.#scene = scene;
    this.process = process;
  }

  get name(): string {
    return this.process.name;
  }

  get nowMs(): number {
    return this.process.nowMs;
  }

  link(node = this.#scene.node): Link {
    return this.#scene.world.link(this.process, node);
  }

  client(options?: SimClientOptions, node = this.#scene.node): SimClient {
    return new SimClient(this.link(node), options);
  }

  holdfast(
    options?: HoldfastOptions & { readonly client?: SimClientOptions },
    node = this.#scene.node,
  ): Holdfast {
    return holdfastOn(this.link(node), options);
  }

  run(work: () => Promise<unknown>): void {
    this.process.run(work);
  }

  sleep(ms: number): Promise<void> {
    return this.process.sleep(ms);
  }

  /** Writes down what happened at one time, or over a time. */
  note(operation: Partial<Operation> & Pick<Operation, "f">): void {
    const { nowMs } = this;
    const seq = this.#seq++;
    const base = { key: "it", invMs: nowMs, retMs: nowMs, type: "ok" } as const;
    this.#scene.history.add({ ...base, ...operation, process: this.name, seq });
  }
}

/** What is told on the channels until the end of the test. */
export function heard<Name extends keyof HoldfastEvents>(name: Name): HoldfastEvents[Name][] {
  const told: HoldfastEvents[Name][] = [];
  const note = (message: unknown): void => void told.push(message as HoldfastEvents[Name]);
  subscribe(name, note);
  onTestFinished(() => void unsubscribe(name, note));
  return told;
}

/** What a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  return promise.then(
    (value) => expect.fail(`it did not fail, but gave ${String(value)}`),
    (error) => error,
  );
}
