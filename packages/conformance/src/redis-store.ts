/** RedisStore: the store's side of a case over Redis. Knows the keys of a lock and its state, as _state.lua describes them. */
import type { LockStore } from "./case.js";

/** One command on a connection of the lab's own. */
export type SendCommand = (...words: string[]) => Promise<unknown>;

/** Longer than any case. */
const STRANGER_MS = 60_000;
const DAY_S = "86400";
const DAY_MS = 86_400_000;
/** <top><flag>, and for a lock that is held <id> <token> <since> <keep_ms> <ttl_ms> <owner>. */
const STATE = /^(\d{16})([ +])(?:\S+ \d{16} \d{16} (\d+) \d+ .*)?$/s;

interface State {
  readonly top: string;
  readonly flag: string;
  readonly leftMs: number | null;
}

export class RedisStore implements LockStore {
  readonly #send: SendCommand;
  readonly #prefix: string;

  constructor(send: SendCommand, prefix: string) {
    this.#send = send;
    this.#prefix = prefix;
  }

  async leftMs(name: string): Promise<number | null> {
    return (await this.#state(name))?.leftMs ?? null;
  }

  async waiting(name: string): Promise<number> {
    return Number(await this.#send("ZCARD", this.#key(name, "line")));
  }

  async listeners(): Promise<number> {
    return ((await this.#send("PUBSUB", "CHANNELS", `${this.#prefix}:inbox:*`)) as string[]).length;
  }

  async residue(name: string): Promise<string[]> {
    const free = (await this.leftMs(name)) === null;
    return (await this.#existing(name)).filter((key) => !free || key !== this.#key(name, "lock"));
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
    const now = digits(await this.nowMicros());
    const { top = digits(1n), flag = " " } = (await this.#state(name)) ?? {};
    const state = `${top}${flag}stranger ${digits(1n)} ${now} ${DAY_MS} ${STRANGER_MS} ${owner}`;
    await this.#send("SET", this.#key(name, "lock"), state, "PX", String(DAY_MS + STRANGER_MS));
  }

  async forget(name: string): Promise<void> {
    await this.tear(name, "holder");
    await this.#send("DEL", ...["line", "waiters", "gone"].map((part) => this.#key(name, part)));
  }

  async tear(name: string, part: "holder" | "order" | "entries"): Promise<void> {
    if (part !== "holder") {
      await this.#send("DEL", this.#key(name, part === "order" ? "line" : "waiters"));
      return;
    }
    const state = await this.#state(name);
    if (state) await this.#send("SET", this.#key(name, "lock"), state.top + state.flag, "EX", DAY_S);
  }

  async setToken(name: string, token: bigint): Promise<void> {
    await this.#send("SET", this.#key(name, "lock"), `${digits(token)} `, "EX", DAY_S);
  }

  async forgetToken(name: string): Promise<void> {
    await this.#send("DEL", this.#key(name, "lock"));
  }

  async tokenLeftMs(name: string): Promise<number> {
    return Number(await this.#send("PTTL", this.#key(name, "lock")));
  }

  async spoil(name: string): Promise<void> {
    await this.#send("DEL", this.#key(name, "lock"));
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

  async #state(name: string): Promise<State | null> {
    const key = this.#key(name, "lock");
    if ((await this.#send("TYPE", key)) !== "string") return null; // nothing, or spoilt
    const match = STATE.exec(String(await this.#send("GET", key)));
    if (!match) return null;
    const [, top = "", flag = "", keepMs] = match;
    const leftMs = keepMs ? Number(await this.#send("PTTL", key)) - Number(keepMs) : 0;
    return { top, flag, leftMs: leftMs > 0 ? leftMs : null };
  }

  async #existing(name: string): Promise<string[]> {
    const keys = ["lock", "line", "waiters", "gone"].map((part) => this.#key(name, part));
    const found: string[] = [];
    for (const key of keys) if (Number(await this.#send("EXISTS", key)) === 1) found.push(key);
    return found;
  }
}

function digits(number: bigint): string {
  return String(number).padStart(16, "0");
}
