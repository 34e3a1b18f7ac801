/** Crew: the workers of a round, each in its slot, with a way of its own to the server. */
import { join } from "node:path";
import { FaultProxy } from "@holdfast/conformance";
import { Dice } from "../chance/dice.js";
import type { ClockShim } from "./clock-shim.js";
import type { NetworkLink } from "./link.js";
import type { Slot } from "./scene.js";
import type { ChaosServer } from "./server.js";
import { clientNames, type WorkerTask } from "./worker/task.js";
import { WorkerProcess } from "./worker-process.js";

export interface CrewTerms {
  readonly seed: number;
  readonly workers: number;
  readonly folder: string;
  readonly server: ChaosServer;
  readonly vault: string;
  readonly nodes: readonly string[];
  readonly link: NetworkLink | null;
  readonly shim: ClockShim | null;
  /** The folder of another clone: every second worker runs its library. */
  readonly against: string | null;
  readonly work: Pick<
    WorkerTask,
    "callers" | "keys" | "ttlsMs" | "callTimeoutMs" | "canaryTtlMs" | "canaries" | "workloads"
  >;
}

export class Crew {
  readonly slots: readonly Slot[];
  /** Also those that died. */
  readonly #everybody: WorkerProcess[];
  readonly #proxies: readonly FaultProxy[];

  private constructor(slots: readonly Slot[], everybody: WorkerProcess[], proxies: readonly FaultProxy[]) {
    this.slots = slots;
    this.#everybody = everybody;
    this.#proxies = proxies;
  }

  static async gather(terms: CrewTerms): Promise<Crew> {
    const dice = new Dice(terms.seed);
    const everybody: WorkerProcess[] = [];
    const proxies: FaultProxy[] = [];
    const slots: Slot[] = [];
    for (let place = 0; place < terms.workers; place++) {
      // The last one is at the other end of the cable, without a proxy.
      const isLinked = terms.link !== null && place === terms.workers - 1;
      const proxy = isLinked ? null : await FaultProxy.start(terms.server.way);
      if (proxy) proxies.push(proxy);
      slots.push(openSlot(terms, place, proxy, dice.seed(), everybody));
    }
    return new Crew(slots, everybody, proxies);
  }

  get everybody(): readonly WorkerProcess[] {
    return this.#everybody;
  }

  get alive(): WorkerProcess[] {
    return this.slots.map(({ worker }) => worker);
  }

  heal(): void {
    for (const proxy of this.#proxies) proxy.heal();
    for (const { worker } of this.slots) worker.thaw();
  }

  /** Nobody outlives it. */
  async dismiss(): Promise<void> {
    await Promise.all(this.#everybody.filter(({ diedMs }) => diedMs === null).map((worker) => worker.kill()));
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }
}

function openSlot(
  { against, folder, link, nodes, server, shim, vault, work }: CrewTerms,
  place: number,
  proxy: FaultProxy | null,
  seed: number,
  everybody: WorkerProcess[],
): Slot {
  const name = `w${place + 1}`;
  const clock = shim?.clock(folder, name) ?? null;
  const dice = new Dice(seed);
  const client = clientNames[place % clientNames.length] ?? "ioredis";
  let lives = 0;
  const start = () => {
    lives += 1;
    const called = lives === 1 ? name : `${name}#${lives}`;
    const worker = new WorkerProcess({
      task: {
        ...work,
        name: called,
        seed: dice.seed(),
        host: proxy ? "127.0.0.1" : (link?.serverIp ?? "127.0.0.1"),
        port: proxy?.port ?? server.process?.port ?? 0,
        vault,
        nodes,
        client,
        isMixed: against !== null,
        journal: join(folder, `${called}.ndjson`),
      },
      by: proxy ? [] : (link?.at("worker") ?? []),
      clock,
      against: place % 2 === 1 ? against : null,
    });
    everybody.push(worker);
    return worker;
  };
  let worker = start();
  return {
    name,
    proxy,
    clock,
    get worker() {
      return worker;
    },
    async replace() {
      await worker.kill();
      worker = start();
    },
  };
}
