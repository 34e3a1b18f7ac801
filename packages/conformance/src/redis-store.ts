/** RedisStore: the store's side of a case over Redis. */
import { formatLock, type HolderRecord, type LockRecord, lockKeys, parseLock } from "holdfast/locks/redis";
import type { LockStore } from "./case.js";

/** One command on a connection of the lab's own. */
export type SendCommand = (...words: string[]) => Promise<unknown>;

/** Longer than any case. */
const STRANGER_MS = 60_000;
const DAY_S = "86400";
const DAY_MS = 86_400_000;
/** The keys of a lock, in the order of `lockKeys`. */
const PARTS = ["lock", "line", "waiters", "banned"] as const;
type Part = (typeof PARTS)[number];

export class RedisStore implements LockStore {
  readonly #send: SendCommand;
  readonly #prefix: string;

  constructor(send: SendCommand, prefix: string) {
    this.#send = send;
    this.#prefix = prefix;
  }

  async leftMs(name: string): Promise<number | null> {
    const { holder = null } = (await this.#state(name)) ?? {};
    const leftMs = holder ? (await this.tokenLeftMs(name)) - holder.keepMs : 0;
    return leftMs > 0 ? leftMs : null;
  }

  /** Who is written down as its holder, whether or not the lease is over. */
  async holder(name: string): Promise<HolderRecord | null> {
    return (await this.#state(name))?.holder ?? null;
  }

  async waiting(name: string): Promise<number> {
    return Number(await this.#send("ZCARD", this.#key(name, "line")));
  }

  /** The ids of those who stand in line, the first first. */
  async line(name: string): Promise<string[]> {
    return (await this.#send("ZRANGE", this.#key(name, "line"), "0", "-1")) as string[];
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
    const sinceUs = Number(await this.nowMicros());
    const { top, crowded } = (await this.#state(name)) ?? { top: 1n, crowded: false };
    const holder = { id: "stranger", token: 1n, sinceUs, keepMs: DAY_MS, ttlMs: STRANGER_MS, owner };
    const state = formatLock({ top, crowded, holder });
    await this.#send("SET", this.#key(name, "lock"), state, "PX", String(DAY_MS + STRANGER_MS));
  }

  async forget(name: string): Promise<void> {
    await this.tear(name, "holder");
    await this.#send("DEL", ...lockKeys(this.#prefix, name).slice(1));
  }

  async tear(name: string, part: "holder" | "order" | "entries"): Promise<void> {
    if (part !== "holder") {
      await this.#send("DEL", this.#key(name, part === "order" ? "line" : "waiters"));
      return;
    }
    const state = await this.#state(name);
    if (!state) return;
    const freed = formatLock({ ...state, holder: null });
    await this.#send("SET", this.#key(name, "lock"), freed, "EX", DAY_S);
  }

  async setToken(name: string, token: bigint): Promise<void> {
    const state = formatLock({ top: token, crowded: false, holder: null });
    await this.#send("SET", this.#key(name, "lock"), state, "EX", DAY_S);
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

  #key(name: string, part: Part): string {
    return lockKeys(this.#prefix, name)[PARTS.indexOf(part)] ?? "";
  }

  async #state(name: string): Promise<LockRecord | null> {
    const key = this.#key(name, "lock");
    if ((await this.#send("TYPE", key)) !== "string") return null; // nothing, or spoilt
    return parseLock(String(await this.#send("GET", key)));
  }

  async #existing(name: string): Promise<string[]> {
    const keys = lockKeys(this.#prefix, name);
    const found: string[] = [];
    for (const key of keys) if (Number(await this.#send("EXISTS", key)) === 1) found.push(key);
    return found;
  }
}
