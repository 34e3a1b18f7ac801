/** Programs of one kind. One that dies is replaced, until the crew is stopped. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { FromProgram, ToProgram } from "../setup.js";

/** A program that has not ended by itself this long after it was told to is killed. */
const STOP_MS = 5_000;
const READY_MS = 60_000;
/** A program that dies again and again is started again more slowly. */
const RESTART_MS = { least: 50, most: 2_000 } as const;
/** A crew that loses so many programs before one of them was ready is given up. */
const MOST_FAILURES = 5;

export interface Spawned {
  readonly process: ChildProcess;
  /** Takes it out of the round of those that get connections. */
  retire(): void;
}

export interface CrewOptions {
  readonly name: string;
  readonly spawn: (port: number | null) => Spawned;
  /** Told of a program that cannot work at all. */
  readonly onFailure: (message: string) => void;
}

interface Member {
  readonly spawned: Spawned;
  readonly ready: Promise<number | null>;
  isReady: boolean;
}

export class Crew {
  readonly #options: CrewOptions;
  readonly #members = new Set<Member>();
  #isStopping = false;
  #failures = 0;
  /** The port that the first program said: those that come later take it too. */
  #port: number | null = null;

  constructor(options: CrewOptions) {
    this.#options = options;
  }

  /** @returns the port that the programs said, or null. @throws {Error} one of them cannot start */
  async start(count: number): Promise<number | null> {
    const ready = Array.from({ length: count }, () => this.#add().ready);
    const [port] = await Promise.all(ready);
    this.#port = port ?? null;
    return this.#port;
  }

  get pids(): readonly number[] {
    return [...this.#members].flatMap(({ spawned }) => spawned.process.pid ?? []);
  }

  /** Kills a program that is ready, as a crash would. @returns its process id; null: none is ready */
  kill(): number | null {
    const member = [...this.#members].find(
      ({ isReady, spawned }) => isReady && spawned.process.exitCode === null,
    );
    if (!member) return null;
    const { pid = null } = member.spawned.process;
    // First out of the round: a connection that is handed to a process just killed would stay open for ever.
    member.spawned.retire();
    member.spawned.process.kill("SIGKILL");
    member.isReady = false;
    return pid;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#members].map(stopMember));
  }

  #add(): Member {
    const spawned = this.#options.spawn(this.#port);
    const ready = firstWord(spawned.process, this.#options.name);
    ready.catch(() => {}); // For a replacement nobody may be waiting.
    const member: Member = { spawned, ready, isReady: false };
    this.#members.add(member);
    spawned.process.on("message", (message: FromProgram) => {
      if (message.type === "ready") {
        member.isReady = true;
        this.#failures = 0;
      } else if (message.type === "failed") this.#options.onFailure(message.message);
    });
    spawned.process.once("exit", () => void this.#replace(member));
    return member;
  }

  async #replace(dead: Member): Promise<void> {
    this.#members.delete(dead);
    if (this.#isStopping) return;
    this.#failures += 1;
    if (this.#failures > MOST_FAILURES)
      return this.#options.onFailure(`a ${this.#options.name} dies at every start`);
    await sleep(Math.min(RESTART_MS.least * 2 ** this.#failures, RESTART_MS.most));
    if (!this.#isStopping) this.#add();
  }
}

/** The port in "ready". */
async function firstWord(child: ChildProcess, name: string): Promise<number | null> {
  const over = new AbortController();
  try {
    const heard = once(child, "message", { signal: over.signal }) as Promise<[FromProgram]>;
    const exit = once(child, "exit", { signal: over.signal }).then(() => {
      throw new Error(`a ${name} ended before it was ready`);
    });
    const silence = sleep(READY_MS, undefined, { signal: over.signal }).then(() => {
      throw new Error(`a ${name} was not ready within ${READY_MS} ms`);
    });
    const [message] = await Promise.race([heard, exit, silence]);
    if (message.type === "failed") throw new Error(`a ${name} does not start: ${message.message}`);
    return message.port;
  } finally {
    over.abort();
  }
}

async function stopMember({ spawned, isReady }: Member): Promise<void> {
  const { process: child } = spawned;
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  if (isReady && child.connected) child.send({ type: "stop" } satisfies ToProgram);
  else child.kill("SIGTERM"); // A program that is still starting would not hear the message.
  await Promise.race([gone, sleep(STOP_MS, undefined, { ref: false })]);
  if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  await gone;
}
