/** A contender of a conformance case as a process of the world: it stands still, dies and goes on in virtual time. */
import { type Contender, type ContenderBody, type ContenderHands, contenderOf } from "@holdfast/conformance";
import { Holdfast } from "holdfast";
import { Redlock } from "holdfast/redlock";
import { Redis } from "ioredis";
import type { Process } from "../../src/sim/process.js";
import type { World } from "../../src/sim/world.js";

type Work = (hands: ContenderHands) => unknown;

class WorldContender implements ContenderBody {
  readonly #process: Process;
  readonly #home: Process;
  readonly #open = new Set<(error: Error) => void>();
  #hands: ContenderHands | null = null;
  #clients: readonly Redis[] = [];

  constructor(process: Process, home: Process) {
    this.#process = process;
    this.#home = home;
  }

  async start(urls: readonly string[], prefix: string): Promise<void> {
    await this.#order(async () => {
      this.#clients = urls.map((url) => new Redis(url, { disableClientInfo: true }));
      for (const client of this.#clients) client.on("error", () => {});
      const [redis] = this.#clients as [Redis];
      const { clock, random } = this.#process;
      const options = { prefix, label: "contender", clock, random };
      const holdfast =
        this.#clients.length === 1
          ? new Holdfast(redis, options)
          : (new Redlock(this.#clients, { ...options, quarantine: 0 }) as unknown as Holdfast);
      this.#hands = { holdfast, redis, kept: {} };
      await Promise.all(this.#clients.map((client) => client.ping()));
    });
  }

  perform<Argument, Result>(
    work: (hands: ContenderHands, argument: Argument) => Promise<Result> | Result,
    argument: Argument,
  ): Promise<Result> {
    const given = structuredClone(argument);
    return this.#order((hands) => work(hands, given)) as Promise<Result>;
  }

  async freeze(): Promise<void> {
    this.#process.pause();
  }

  async thaw(): Promise<void> {
    this.#process.resume();
  }

  exit(): Promise<void> {
    return this.kill();
  }

  async kill(): Promise<void> {
    this.#process.kill();
    for (const reject of this.#open) reject(new Error("the contender is gone"));
    this.#open.clear();
  }

  async dismiss(): Promise<void> {
    if (this.#process.state !== "running") return this.kill();
    await this.#order(({ holdfast }) => holdfast.close());
    for (const client of this.#clients) client.disconnect();
  }

  /** Work begins in a turn of its process, and its outcome arrives in a turn of the case: neither runs in the other's. */
  #order(work: Work): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#open.add(reject);
      const settle = (settled: () => void): void =>
        this.#home.run(() => {
          if (this.#open.delete(reject)) settled();
        });
      this.#process.run(async () => {
        try {
          const value = structuredClone(await work(this.#hands as ContenderHands));
          settle(() => resolve(value));
        } catch (error) {
          settle(() => reject(new Error(`in the contender: ${error}`)));
        }
      });
    });
  }
}

/** @param home the process of the case */
export function spawning(world: World, home: Process) {
  let count = 0;
  return async (urls: readonly string[], prefix: string): Promise<Contender> => {
    count += 1;
    const body = new WorldContender(world.process(`contender ${count}`), home);
    await body.start(urls, prefix);
    return contenderOf(body);
  };
}
