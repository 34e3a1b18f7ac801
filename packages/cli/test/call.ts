/** The command in the process of its test: what it prints, reads and returns, and by which signal it would end. What is about processes is in program.ts. */
import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import { type Host, onHost } from "../src/host.js";
import { run } from "../src/run.js";
import { type Ended, Printed } from "./printed.js";

/** The streams of a process that has no terminal, and a signal is an event. */
class TestHost extends EventEmitter {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
}

export class Call extends Printed {
  readonly #host: TestHost;
  readonly #ended: Promise<Ended>;

  constructor(args: readonly string[]) {
    const host = new TestHost();
    super(host);
    this.#host = host;
    this.#ended = this.#run(args);
    onTestFinished(async () => void (await this.kill("SIGTERM").ended()));
  }

  async #run(args: readonly string[]): Promise<Ended> {
    const exit = await this.#within(() => run(args));
    this.#host.stdout.end();
    this.#host.stderr.end();
    await this.closed;
    const ended =
      typeof exit === "number" ? { exitCode: exit, signal: null } : { exitCode: null, signal: exit };
    return { ...ended, stdout: this.stdout, stderr: this.stderr };
  }

  get stdin(): PassThrough {
    return this.#host.stdin;
  }

  ended(): Promise<Ended> {
    return this.#ended;
  }

  /** What its listeners do is done on its host, as it is in a process. */
  kill(signal: NodeJS.Signals): this {
    this.#within(() => this.#host.emit(signal, signal));
    return this;
  }

  #within<Result>(work: () => Result): Result {
    return onHost(this.#host as unknown as Host, work);
  }
}

export interface Caller {
  /** Starts `holdfast ARGS` on these servers. */
  start(...args: string[]): Call;
  call(...args: string[]): Promise<Ended>;
  /** With this on stdin. */
  fed(input: string | Uint8Array, ...args: string[]): Promise<Ended>;
}

export function callerOf(urls: () => readonly string[], ...before: string[]): Caller {
  const start = (...args: string[]): Call =>
    new Call([...urls().flatMap((url) => ["--redis", url]), ...before, ...args]);
  return {
    start,
    call: (...args) => start(...args).ended(),
    fed(input, ...args) {
      const call = start(...args);
      call.stdin.end(input);
      return call.ended();
    },
  };
}

export const call = (args: readonly string[]): Promise<Ended> => new Call(args).ended();
