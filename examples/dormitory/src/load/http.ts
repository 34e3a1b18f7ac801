/** Requests of many students at once: connections that are kept, none of a browser's limits, and retries. */
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";

export interface HttpOptions {
  readonly origin: string;
  /** Connections that are open at a time, at most. */
  readonly connections: number;
  readonly signal: AbortSignal;
}

export interface Answered {
  readonly status: number;
  readonly body: unknown;
  readonly cookies: readonly string[];
}

export interface Counts {
  requests: number;
  /** Requests that were sent again: the connection broke, nobody answered in time, or the server was busy. */
  retries: number;
}

/** A server that was killed may leave a connection open and never answer on it. */
const ANSWER_MS = 10_000;
const RETRY_MS = { least: 50, most: 1_000 } as const;
/** Somebody who has asked for this long in vain has found a defect. */
const PATIENCE_MS = 120_000;

export class Http {
  readonly counts: Counts = { requests: 0, retries: 0 };
  readonly #options: HttpOptions;
  readonly #agent: Agent;

  constructor(options: HttpOptions) {
    this.#options = options;
    setMaxListeners(0, options.signal); // One for each request that is under way.
    this.#agent = new Agent({
      connections: options.connections,
      pipelining: 1,
      headersTimeout: ANSWER_MS,
      bodyTimeout: ANSWER_MS,
      connectTimeout: ANSWER_MS,
    });
  }

  /**
   * Sends until a server answers with less than 500. A request that is sent again must change nothing that the first
   * one has changed: a form carries an id for that.
   */
  async send(path: string, headers: Readonly<Record<string, string>>, form?: unknown): Promise<Answered> {
    const deadline = performance.now() + PATIENCE_MS;
    for (let attempt = 0; ; attempt += 1) {
      this.#options.signal.throwIfAborted();
      const answered = await this.#once(path, headers, form).catch((error: unknown) => error as Error);
      if (!(answered instanceof Error) && answered.status < 500) return answered;
      if (performance.now() > deadline) throw new Error(`no answer from ${path}: ${complaintOf(answered)}`);
      this.counts.retries += 1;
      const waitMs = Math.min(RETRY_MS.most, RETRY_MS.least * 2 ** attempt) * (0.5 + Math.random());
      await sleep(waitMs, undefined, { signal: this.#options.signal });
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #once(path: string, headers: Readonly<Record<string, string>>, form: unknown): Promise<Answered> {
    const { origin, signal } = this.#options;
    const isPost = form !== undefined;
    const {
      statusCode,
      headers: head,
      body,
    } = await request(`${origin}${path}`, {
      dispatcher: this.#agent,
      signal,
      method: isPost ? "POST" : "GET",
      headers: { accept: "application/json", ...headers, ...(isPost ? JSON_FORM : {}) },
      ...(isPost ? { body: JSON.stringify(form) } : {}),
    });
    const text = await body.text();
    this.counts.requests += 1;
    const cookies = [head["set-cookie"] ?? []].flat();
    return { status: statusCode, body: parsed(text), cookies };
  }
}

/** A browser sends neither of them across sites without asking, so they stand for the form's origin. */
const JSON_FORM = { "content-type": "application/json", "x-dormitory": "1" };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function complaintOf(answered: Answered | Error): string {
  return answered instanceof Error ? answered.message : `status ${answered.status}`;
}
