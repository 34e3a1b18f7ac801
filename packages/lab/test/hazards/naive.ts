/** Recipes as they are found on the web, and in use. */
import type { SimClient } from "../../src/sim/sim-client.js";
import type { Program } from "./scene.js";

const IF_OWN = `if redis.call("GET", KEYS[1]) == ARGV[1] then`;
const DELETE_IF_OWN = `${IF_OWN} return redis.call("DEL", KEYS[1]) end return 0`;
const EXTEND_IF_OWN = `${IF_OWN} return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`;
const RETRY_MS = 100;

/** SET NX PX with a nonce, the recipe of the Redis documentation. */
export class NaiveLock {
  readonly client: SimClient;
  readonly #program: Program;
  readonly #key: string;
  readonly #ttlMs: number;
  readonly nonce: string;

  constructor(program: Program, { key = "it", ttlMs = 1_000, client = program.client() } = {}) {
    this.#program = program;
    this.#key = key;
    this.#ttlMs = ttlMs;
    this.client = client;
    this.nonce = program.name;
  }

  async tryAcquire(): Promise<boolean> {
    return (await this.client.call("SET", this.#key, this.nonce, "NX", "PX", String(this.#ttlMs))) === "OK";
  }

  async acquire(): Promise<void> {
    while (!(await this.tryAcquire())) await this.#program.sleep(RETRY_MS);
  }

  async release(): Promise<boolean> {
    return (await this.client.call("EVAL", DELETE_IF_OWN, "1", this.#key, this.nonce)) === 1;
  }

  async extend(): Promise<boolean> {
    const words = ["EVAL", EXTEND_IF_OWN, "1", this.#key, this.nonce, String(this.#ttlMs)];
    return (await this.client.call(...words)) === 1;
  }

  async isHeld(): Promise<boolean> {
    return (await this.client.call("GET", this.#key)) === this.nonce;
  }
}

/** GETSET of the time at which the lock ends, as the documentation of SETNX once had it. */
export async function getsetLock(program: Program, ttlMs: number): Promise<boolean> {
  const client = program.client();
  const nowMs = program.process.clock.now().wallMs;
  const endMs = String(nowMs + ttlMs);
  if ((await client.call("SETNX", "it", endMs)) === 1) return true;
  if (Number(await client.call("GET", "it")) > nowMs) return false;
  return Number(await client.call("GETSET", "it", endMs)) <= nowMs;
}
