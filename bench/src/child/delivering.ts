/** Messages pushed by one process and consumed by one or several: what a process does of it. */
import { setTimeout as sleep } from "node:timers/promises";
import { requestsSent } from "../contestants/client.js";
import type { Consumer, Courier, Message, Producer } from "../couriers/courier.js";
import { collectYoung } from "./garbage.js";
import type { ConsumeReport, ConsumeTask, PushReport, PushTask, Task, Tasks } from "./messages.js";

const KINDS = ["push", "consume", "run", "consumed", "stop"] as const;
type DeliveringTask = Tasks[(typeof KINDS)[number]]["in"];

export function isOfDelivering(task: Task): task is DeliveringTask {
  return KINDS.some((kind) => kind === task.task);
}

interface Consuming {
  readonly consumer: Consumer;
  readonly tally: Tally;
}

export class Delivering {
  readonly #courier: Courier;
  #consuming: Consuming | null = null;

  constructor(courier: Courier) {
    this.#courier = courier;
  }

  async perform(task: DeliveringTask): Promise<Tasks[(typeof KINDS)[number]]["out"]> {
    switch (task.task) {
      case "push":
        return await this.#push(task);
      case "consume":
        return await this.#consume(task);
      case "run":
        return await this.#run();
      case "consumed":
        return { handled: this.#now().tally.handled };
      case "stop":
        return await this.#stop();
    }
  }

  async #push(task: PushTask): Promise<PushReport> {
    const producer = await this.#courier.producer(task.queue);
    const meter = await Meter.start();
    if ("inFlight" in task.pace) await pushAtOnce(producer, task, task.pace.inFlight);
    else await pushSteadily(producer, task, task.pace.perSecond);
    const report = { tookMs: meter.tookMs, ...meter.read() };
    await producer.close();
    return report;
  }

  async #consume({ queue, concurrency, messages }: ConsumeTask): Promise<null> {
    const tally = new Tally(messages);
    const handle = (message: Message): void => tally.add(message);
    this.#consuming = { consumer: await this.#courier.consumer(queue, concurrency, handle), tally };
    return null;
  }

  async #run(): Promise<null> {
    const { consumer, tally } = this.#now();
    tally.meter = await Meter.start();
    tally.startedAtNs = process.hrtime.bigint();
    consumer.run();
    return null;
  }

  async #stop(): Promise<ConsumeReport> {
    const { consumer, tally } = this.#now();
    const report = tally.report();
    await consumer.stop();
    this.#consuming = null;
    return report;
  }

  #now(): Consuming {
    if (!this.#consuming) throw new Error("nothing is consumed");
    return this.#consuming;
  }
}

/** What this process sends and computes from its start on. */
class Meter {
  readonly #requests = requestsSent();
  readonly #cpu = process.cpuUsage();
  readonly #since = performance.now();

  static async start(): Promise<Meter> {
    collectYoung();
    await sleep(1);
    return new Meter();
  }

  get tookMs(): number {
    return performance.now() - this.#since;
  }

  read(): { readonly cpuMs: number; readonly requests: number } {
    const cpu = process.cpuUsage(this.#cpu);
    return { cpuMs: (cpu.user + cpu.system) / 1_000, requests: requestsSent() - this.#requests };
  }
}

/** What the handlers of one process have seen. */
class Tally {
  handled = 0;
  meter: Meter | null = null;
  startedAtNs = 0n;
  readonly #seen: Uint8Array;
  readonly #latenciesMs: number[] = [];
  #endedAtMs = 0;

  constructor(messages: number) {
    this.#seen = new Uint8Array(Math.ceil(messages / 8));
  }

  add({ n, atNs }: Message): void {
    if (atNs !== undefined) this.#latenciesMs.push(Number(process.hrtime.bigint() - BigInt(atNs)) / 1e6);
    this.#seen[n >> 3] = (this.#seen[n >> 3] as number) | (1 << (n & 7));
    this.handled += 1;
    this.#endedAtMs = performance.now();
  }

  report(): ConsumeReport {
    if (!this.meter) throw new Error("it was not run");
    const agoNs = BigInt(Math.round((performance.now() - this.#endedAtMs) * 1e6));
    const ended = this.handled === 0 ? this.startedAtNs : process.hrtime.bigint() - agoNs;
    return {
      ...this.meter.read(),
      startedAtNs: String(this.startedAtNs),
      endedAtNs: String(ended),
      seen: Buffer.from(this.#seen).toString("base64"),
      handled: this.handled,
      latenciesMs: this.#latenciesMs,
    };
  }
}

async function pushAtOnce(producer: Producer, task: PushTask, inFlight: number): Promise<void> {
  const text = padding(task.bytes);
  let next = 0;
  const pushOn = async (): Promise<void> => {
    while (next < task.messages) {
      const n = next;
      next += 1;
      await producer.push(text === "" ? { n } : { n, text }, n % task.lanes);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, pushOn));
}

/** Pauses are drawn, so that no timer of a courier is met at the same point every time. */
async function pushSteadily(producer: Producer, task: PushTask, perSecond: number): Promise<void> {
  const meanMs = 1_000 / perSecond;
  for (let n = 0; n < task.messages; n += 1) {
    await sleep(meanMs * (0.5 + Math.random()));
    await producer.push({ n, atNs: String(process.hrtime.bigint()) }, n % task.lanes);
  }
}

/** So that the JSON has that many bytes, with a number of five digits. */
function padding(bytes: number): string {
  const { length } = JSON.stringify({ n: 10_000, text: "" });
  return "x".repeat(Math.max(0, bytes - length));
}
