/** Real engines on one clock that stands still unless told: what the model says, done by the library's scripts, with its arguments. */
import { compileValkey, SimulatedValkey } from "@holdfast/embedded";
import { type LockRecord, lockKeys, parseLock } from "holdfast/locks/redis";
import { type Reply, ReplyError } from "../../src/sim/resp.js";
import { EngineClient } from "../engine-client.js";
import { libraryScripts } from "./library-scripts.js";

export interface GrantTerms {
  readonly turns?: number;
  /** The stamp must be at least this. */
  readonly least?: number;
  /** The stamp is to be this one, if the lock is free and has not given it before. */
  readonly named?: number;
}

const { acquire, acquireMany, confirm } = await libraryScripts();
const [LOCK = "", ...others] = lockKeys("holdfast", "lock");
const OWNER = '{"label":"a test"}';
const TTL_MS = 60_000;
const DAY_MS = 86_400_000;

export class QuorumNodes {
  nowUs = 1_700_000_000_000_000;
  readonly #nodes: Place[] = [];

  static async start(count: number): Promise<QuorumNodes> {
    const nodes = new QuorumNodes();
    const module = await compileValkey();
    for (let node = 0; node < count; node++) {
      const valkey = new SimulatedValkey({ module, trueUs: () => nodes.nowUs, seed: node + 1 });
      nodes.#nodes.push({ valkey, client: new EngineClient(valkey) });
    }
    return nodes;
  }

  /** The stamp; null: somebody else holds the lock there. */
  grant(node: number, attempt: number, { turns = 1, least = 0, named = 0 }: GrantTerms = {}): number | null {
    const id = idOf(attempt);
    if (named > 0) {
      const common = String(named).padStart(16, "0");
      const px = String(DAY_MS + TTL_MS);
      const terms = `${DAY_MS} ${TTL_MS} ${OWNER}`;
      const args = [LOCK, terms, String(turns), px, common, id];
      const [seen] = this.#call(node, "EVAL", acquireMany, "1", ...args) as [Reply];
      // It says an array where it leaves the question to the other script.
      if (typeof seen === "string" && seen.slice(16) === id) return Number(seen.slice(0, 16));
    }
    const floor = String(Math.max(least, named));
    const args = [id, String(TTL_MS), String(turns), floor, OWNER, "0", "", "0", "0", "0"];
    const reply = this.#call(node, "EVAL", acquire, "4", LOCK, ...others, ...args);
    const [status, said] = reply as [number, string];
    return status === 1 ? Number(said) : null;
  }

  confirm(node: number, attempt: number, stamp: number, last: number): boolean {
    const args = [LOCK, idOf(attempt), String(stamp), String(last)];
    const [confirmed] = this.#call(node, "EVAL", confirm, "1", ...args) as [number];
    return confirmed === 1;
  }

  /** The lease is not honoured: a clock that jumps, a key deleted by hand. The token stays. */
  forget(node: number): void {
    // The key lives on for as long as the last token is to be kept.
    const keepMs = this.#state(node)?.holder?.keepMs;
    if (keepMs !== undefined) this.#call(node, "PEXPIRE", LOCK, String(keepMs));
  }

  /** The largest token that was handed out, reserved or confirmed. */
  known(node: number): number {
    return Number(this.#state(node)?.top ?? 0n);
  }

  restart(node: number): void {
    const place = this.#nodes[node] as Place;
    place.valkey.restart({ keep: "nothing" });
    place.client = new EngineClient(place.valkey);
  }

  clear(): void {
    for (const node of this.#nodes.keys()) this.#call(node, "FLUSHALL");
  }

  #state(node: number): LockRecord | null {
    const held = this.#call(node, "GET", LOCK);
    return held === null ? null : parseLock(String(held));
  }

  #call(node: number, ...words: string[]): Reply {
    const { client } = this.#nodes[node] as Place;
    const reply = client.ask(words);
    if (reply instanceof ReplyError) throw reply;
    return reply;
  }
}

function idOf(attempt: number): string {
  return `attempt-${attempt}`;
}

interface Place {
  readonly valkey: SimulatedValkey;
  client: EngineClient;
}
