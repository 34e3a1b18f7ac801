/** RedisStore: the store's side of a case over Redis. Knows the keys of a lock, as described in the library's redis/keys.ts. */
import type { LockStore } from "./case.js";

/** One command on a connection of the lab's own. */
export type SendCommand = (...words: string[]) => Promise<unknown>;

/** Longer than any case. */
const STRANGER_MS = "60000";

export class RedisStore implements LockStore {
  readonly #send: SendCommand;
  readonly #prefix: string;

  constructor(send: SendCommand, prefix: string) {
    this.#send = send;
    this.#prefix = prefix;
  }

  async leftMs(name: string): Promise<number | null> {
    const left = Number(await this.#send("PTTL", this.#key(name, "lock")));
    return left < 0 ? null : left;
  }

  async waiting(name: string): Promise<number> {
    return Number(await this.#send("ZCARD", this.#key(name, "line")));
  }

  async listeners(): Promise<number> {
    return ((await this.#send("PUBSUB", "CHANNELS", `${this.#prefix}:inbox:*`)) as string[]).length;
  }

  async residue(name: string): Promise<string[]> {
    return (await this.#existing(name)).filter((key) => key !== this.#key(name, "fence"));
  }

  async everlasting(name: string): Promise<string[]> {
    const keys: string[] = [];
    for (const key of await this.#existing(name)) {
      if (Number(await this.#send("PTTL", key)) === -1) keys.push(key);
    }
    return keys;
  }

  async seize(name: string): Promise<void> {
    const owner = JSON.stringify({ host: "elsewhere", pid: 1, label: "stranger" });
    const value = `stranger 1 ${STRANGER_MS} 0 ${owner}`;
    await this.#send("SET", this.#key(name, "lock"), value, "PX", STRANGER_MS);
  }

  async forget(name: string): Promise<void> {
    const keys = await this.residue(name);
    if (keys.length > 0) await this.#send("DEL", ...keys);
  }

  async tear(name: string, part: "holder" | "order" | "entries"): Promise<void> {
    const key = { holder: "lock", order: "line", entries: "waiters" }[part];
    await this.#send("DEL", this.#key(name, key));
  }

  async setToken(name: string, token: bigint): Promise<void> {
    await this.#send("SET", this.#key(name, "fence"), String(token));
  }

  async forgetToken(name: string): Promise<void> {
    await this.#send("DEL", this.#key(name, "fence"));
  }

  async tokenLeftMs(name: string): Promise<number> {
    return Number(await this.#send("PTTL", this.#key(name, "fence")));
  }

  async spoil(name: string): Promise<void> {
    await this.#send("RPUSH", this.#key(name, "lock"), "of another program");
  }

  async forgetScripts(): Promise<void> {
    await this.#send("SCRIPT", "FLUSH");
  }

  async nowMicros(): Promise<bigint> {
    const [seconds, micros] = (await this.#send("TIME")) as [string, string];
    return BigInt(seconds) * 1_000_000n + BigInt(micros);
  }

  #key(name: string, part: string): string {
    return `${this.#prefix}:{${name}}:${part}`;
  }

  async #existing(name: string): Promise<string[]> {
    const keys = ["lock", "fence", "line", "waiters", "gone"].map((part) => this.#key(name, part));
    const found: string[] = [];
    for (const key of keys) if (Number(await this.#send("EXISTS", key)) === 1) found.push(key);
    return found;
  }
}
