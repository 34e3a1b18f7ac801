/**
 * The web server processes behind one port (node:cluster, round robin), or on ports of their own.
 * A server that dies is replaced; the sale goes on meanwhile.
 */
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { aborted } from "../aborted.js";
import { type FromServer, SETUP_VARIABLE, type ServerSetup, type Tally, type ToServer } from "./messages.js";

/** A server that has not gone by itself this long after it was told to is killed. */
const STOP_MS = 3_000;
/** A server that has not answered an order after this long is given up. */
const ANSWER_MS = 30_000;

interface ServerProcess {
  readonly worker: Worker;
  readonly listening: Promise<number>;
  isListening: boolean;
}

type Open = Extract<ToServer, { type: "open" }>;

export class WebServers {
  readonly #setup: ServerSetup;
  readonly #members = new Set<ServerProcess>();
  readonly #killedPids: number[] = [];
  readonly #onFailure: (message: string) => void;
  #saleOn: string | null = null;
  #stopping = false;

  /** `onFailure` hears of a server that cannot work at all. */
  constructor(setup: ServerSetup, onFailure: (message: string) => void) {
    this.#setup = setup;
    this.#onFailure = onFailure;
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({ exec: fileURLToPath(new URL("./web-server.js", import.meta.url)), args: [] });
  }

  /** @returns the ports: a single one unless the servers listen apart. @throws the signal's reason */
  async start(count: number, signal: AbortSignal): Promise<number[]> {
    signal.throwIfAborted();
    for (let started = 0; started < count; started += 1) this.#fork(this.#setup.port);
    const listening = Promise.all([...this.#members].map((member) => member.listening));
    const ports = await Promise.race([listening, aborted(signal).then(() => Promise.reject(signal.reason))]);
    return [...new Set(ports)];
  }

  /** @param dieAtLeft the first server is killed while it holds the lock with this many pieces left, or fewer. */
  async open(stockName: string, dieAtLeft: number | null): Promise<void> {
    this.#saleOn = stockName;
    const orders = [...this.#members].map((member, index) =>
      openAt(member, { type: "open", stockName, dieAtLeft: index === 0 ? dieAtLeft : null }),
    );
    await Promise.all(orders);
  }

  async close(): Promise<Tally[]> {
    this.#saleOn = null;
    return Promise.all([...this.#members].map(closeAt));
  }

  /** The processes killed so far. */
  get killedPids(): readonly number[] {
    return this.#killedPids;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#members].map(stopMember));
  }

  #fork(port: number): void {
    const setup: ServerSetup = { ...this.#setup, port, saleOn: this.#saleOn };
    const worker = cluster.fork({ [SETUP_VARIABLE]: JSON.stringify(setup) });
    const listening = heard(worker, "listening").then((message) => message.port);
    const member: ServerProcess = { worker, listening, isListening: false };
    // Whoever waits for the port hears of the failure; for a replacement nobody may be waiting.
    listening.catch(() => {});
    this.#members.add(member);
    worker.on("message", (message: FromServer) => {
      if (message.type === "listening") member.isListening = true;
      if (message.type === "holding") this.#kill(worker);
      if (message.type === "failed") this.#onFailure(message.message);
    });
    worker.once("exit", () => void this.#replace(member));
  }

  #kill(worker: Worker): void {
    this.#killedPids.push(worker.process.pid ?? 0);
    // First out of the round: a connection that node:cluster hands to a process just killed stays open for ever, as
    // the dead process never says that it took it, and its buyer would wait for nothing.
    worker.disconnect();
    worker.process.kill("SIGKILL");
  }

  async #replace(dead: ServerProcess): Promise<void> {
    this.#members.delete(dead);
    const killed = this.#killedPids.includes(dead.worker.process.pid ?? 0);
    if (this.#stopping) return;
    if (!killed) return this.#onFailure("a web server ended by itself");
    // Behind a balancer the new server takes the dead one's address.
    this.#fork(this.#setup.apart ? await dead.listening : this.#setup.port);
  }
}

async function openAt({ worker }: ServerProcess, order: Open): Promise<void> {
  const opened = heard(worker, "opened");
  worker.send(order);
  await opened;
}

async function closeAt({ worker, listening }: ServerProcess): Promise<Tally> {
  await listening; // A replacement may still be starting.
  const closed = heard(worker, "closed");
  worker.send({ type: "close" } satisfies ToServer);
  return (await closed).tally;
}

async function stopMember({ worker, isListening }: ServerProcess): Promise<void> {
  if (worker.isDead()) return;
  const gone = once(worker, "exit");
  // A server that is still starting would not hear it: node:cluster drops messages before there is a listener.
  if (!isListening) worker.process.kill("SIGTERM");
  else if (worker.isConnected()) worker.send({ type: "stop" } satisfies ToServer);
  await Promise.race([gone, sleep(STOP_MS, undefined, { ref: false })]);
  if (!worker.isDead()) worker.process.kill("SIGKILL");
  await gone;
}

/** The next message of this type; rejects if the process fails or ends before. */
function heard<Type extends FromServer["type"]>(
  worker: Worker,
  type: Type,
): Promise<Extract<FromServer, { type: Type }>> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: FromServer): void => {
      if (message.type === type) settle(() => resolve(message as Extract<FromServer, { type: Type }>));
      else if (message.type === "failed") settle(() => reject(new Error(message.message)));
    };
    const onExit = (): void => settle(() => reject(new Error(`a web server ended before it was ${type}`)));
    const onSilence = (): void =>
      settle(() => reject(new Error(`a web server was not ${type} within ${ANSWER_MS} ms`)));
    const timer = setTimeout(onSilence, ANSWER_MS);
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      worker.off("message", onMessage).off("exit", onExit);
      act();
    };
    worker.on("message", onMessage).on("exit", onExit);
  });
}
