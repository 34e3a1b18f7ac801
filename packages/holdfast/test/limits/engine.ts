/** The real engine in virtual time, asked without a network, and the script of limits on it. */
import { compileValkey, SimulatedValkey, type ValkeyConnection } from "@holdfast/embedded";
import { script } from "../../src/limits/lua/charge.lua.ts";
import type { LimitSettings } from "../../src/limits/settings.ts";

export type Answer = number | string | null | Answer[] | Error;

const DAWN_US = 1_800_000_000_000_000;

export class Engine {
  readonly valkey: SimulatedValkey;
  /** True time. The server's clock is this one, until it is stepped. */
  trueUs = DAWN_US;
  readonly #connection: ValkeyConnection;
  #bytes = "";

  static async start(): Promise<Engine> {
    return new Engine(await compileValkey());
  }

  constructor(module: Awaited<ReturnType<typeof compileValkey>>) {
    this.valkey = new SimulatedValkey({ module, trueUs: () => this.trueUs });
    this.#connection = this.valkey.connect({
      receive: (bytes) => {
        this.#bytes += Buffer.from(bytes).toString("latin1");
      },
      closed() {},
    });
    this.call("SCRIPT", "LOAD", script.source);
  }

  /** The server's clock. */
  get nowUs(): number {
    return Math.floor(this.valkey.clock.realUs());
  }

  call(...words: string[]): Answer {
    const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
    this.#bytes = "";
    this.#connection.push(Buffer.from(`*${words.length}\r\n${parts.join("")}`));
    this.valkey.pump();
    return read(this.#bytes, 0)[0];
  }

  /**
   * Four numbers for each, after the server's clock; where its group met an error -1 and the text come first. "all": one group;
   * "each": groups of one; otherwise as the script has it.
   */
  charge(how: string, asks: readonly Asked[], size = how === "all" ? asks.length : 1): Answer {
    const way = how === "all" || how === "each" ? "take" : how;
    const keys = asks.flatMap(({ key, mark }) => (mark === undefined ? [key] : [key, mark]));
    const words = asks.flatMap(({ settings, cost, atUs = null, extra, holdUs = 0 }) => {
      const { policy, perUs, burst, unitUs } = settings;
      const charge = [policy.type, cost, policy.max, perUs, burst, unitUs, atUs ?? ""].map(String);
      return extra === undefined ? charge : [...charge, String(extra), String(holdUs)];
    });
    return this.call("EVALSHA", script.sha1, String(keys.length), ...keys, way, String(size), ...words);
  }

  /** The same for one cost that is taken alone, which has a form of its own. */
  lone({ settings, key, cost }: Asked): Answer {
    return this.call("EVALSHA", script.sha1, "1", key, String(cost), settings.bounds);
  }
}

export interface Asked {
  readonly settings: LimitSettings;
  readonly key: string;
  /** With "back": the key of this call. */
  readonly mark?: string;
  readonly cost: number;
  readonly atUs?: number | null;
  readonly extra?: number;
  readonly holdUs?: number;
}

function read(text: string, from: number): [Answer, number] {
  const end = text.indexOf("\r\n", from);
  const line = text.slice(from + 1, end);
  const next = end + 2;
  if (text[from] === ":") return [Number(line), next];
  if (text[from] === "+") return [line, next];
  if (text[from] === "-") return [new Error(line), next];
  const length = Number(line);
  if (length < 0 || text[from] === "_") return [null, next];
  if (text[from] === "$") return [text.slice(next, next + length), next + length + 2];
  const items: Answer[] = [];
  let at = next;
  for (let place = 0; place < length; place++) {
    const [item, after] = read(text, at);
    items.push(item);
    at = after;
  }
  return [items, at];
}

/** The same seed, the same sequence (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  whole(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.whole(0, items.length - 1)] as Item;
  }
}
