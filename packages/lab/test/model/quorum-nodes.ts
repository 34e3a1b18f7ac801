/** Real engines on one clock that stands still unless told: what a model says, done by the scripts of its design. */
import { compileValkey, SimulatedValkey } from "@holdfast/embedded";
import { type LockRecord, lockKeys, parseLock } from "holdfast/locks/redis";
import { type Reply, ReplyError } from "../../src/sim/resp.js";
import { EngineClient } from "./engine-client.js";
import { libraryScripts } from "./library-scripts.js";

/** How a design asks one node. `call` throws what the node refuses. */
export interface QuorumScripts {
  /** Returns what the node says to the attempt that it grants to; null: somebody else holds it. */
  readonly grant: (call: Call, request: GrantRequest) => number | null;
  readonly confirm: ((call: Call, told: Told) => boolean) | null;
  /** The lease is not honoured: a clock that jumps, a key deleted by hand. The token stays. */
  readonly forget: (call: Call) => void;
  /** The largest token that was handed out, reserved or confirmed. */
  readonly known: (call: Call) => number;
  /** A node whose own stamp is the token knows it, and is not asked to confirm. */
  readonly skipsOwn: boolean;
  /** From what the grants said. */
  readonly token: (said: readonly number[]) => number;
}

export type Call = (...words: string[]) => Reply;

export interface GrantRequest {
  readonly id: string;
  readonly turns: number;
  /** The stamp must be at least this; 0 for none. */
  readonly least: number;
  /** The stamp is to be this one, if the lock is free and has not given it before; 0 for none. */
  readonly named: number;
}

export interface Told {
  readonly id: string;
  readonly said: number;
  readonly last: number;
}

const largest = (said: readonly number[]): number => Math.max(...said);
const TTL_MS = "60000";

const HOLD = "{lock}:hold";
const TOKEN = "{lock}:token";

/** A design by hand, with the hold in one key and the token in another. */
function byHand(onGrant: string, confirm: string | null, more: number): QuorumScripts {
  const grant = `
  local held = redis.call('GET', KEYS[1])
  if held and held ~= ARGV[1] then return false end
  if not held then
    ${onGrant}
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ${TTL_MS})
  end
  return redis.call('GET', KEYS[2]) or '0'`;
  return {
    grant: (call, { id }) => {
      const said = call("EVAL", grant, "2", HOLD, TOKEN, id);
      return said === null ? null : Number(said);
    },
    confirm:
      confirm === null
        ? null
        : (call, { id, last }) => call("EVAL", confirm, "2", HOLD, TOKEN, id, `${last}`) === 1,
    forget: (call) => void call("DEL", HOLD),
    known: (call) => Number(call("GET", TOKEN)),
    skipsOwn: false,
    token: (said) => largest(said) + more,
  };
}

const raise = `
  if tonumber(ARGV[2]) > tonumber(redis.call('GET', KEYS[2]) or '0') then redis.call('SET', KEYS[2], ARGV[2]) end
  return 1`;

const [LOCK = "", ...others] = lockKeys("holdfast", "lock");
const { acquire, acquireMany, confirm } = await libraryScripts();
const OWNER = '{"label":"a test"}';
const DAY_MS = 86_400_000;

/** The scripts of the library, with the arguments that it gives to them. */
const G: QuorumScripts = {
  grant: (call, { id, turns, least, named }) => {
    if (named > 0) {
      const common = String(named).padStart(16, "0");
      const terms = `${DAY_MS} ${TTL_MS} ${OWNER}`;
      const px = String(DAY_MS + Number(TTL_MS));
      const [seen] = call("EVAL", acquireMany, "1", LOCK, terms, String(turns), px, common, id) as [Reply];
      // It says an array where it leaves the question to the other script.
      if (typeof seen === "string" && seen.slice(16) === id) return Number(seen.slice(0, 16));
    }
    const floor = String(Math.max(least, named));
    const args = [id, TTL_MS, String(turns), floor, OWNER, "0", "", "0", "0", "0"];
    const [status, said] = call("EVAL", acquire, "4", LOCK, ...others, ...args) as [number, string];
    return status === 1 ? Number(said) : null;
  },
  confirm: (call, { id, said, last }) => {
    const [confirmed] = call("EVAL", confirm, "1", LOCK, id, String(said), String(last)) as [number];
    return confirmed === 1;
  },
  forget: (call) => {
    // The key lives on for as long as the last token is to be kept.
    const keepMs = stateOf(call)?.holder?.keepMs;
    if (keepMs !== undefined) call("PEXPIRE", LOCK, String(keepMs));
  },
  known: (call) => Number(stateOf(call)?.top ?? 0n),
  skipsOwn: true,
  token: largest,
};

function stateOf(call: Call): LockRecord | null {
  const held = call("GET", LOCK);
  return held === null ? null : parseLock(String(held));
}

export const scripts: Readonly<Record<"A" | "B" | "D" | "G", QuorumScripts>> = {
  A: byHand("redis.call('INCR', KEYS[2])", null, 0),
  B: byHand("", raise, 1),
  D: byHand("", `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end ${raise}`, 1),
  G,
};

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

  call(node: number, ...words: string[]): Reply {
    const { client } = this.#nodes[node] as Place;
    const reply = client.ask(words);
    if (reply instanceof ReplyError) throw reply;
    return reply;
  }

  grant(scripts: QuorumScripts, node: number, attempt: number, more: Partial<GrantRequest> = {}) {
    return scripts.grant(this.#at(node), { id: idOf(attempt), turns: 1, least: 0, named: 0, ...more });
  }

  confirm(scripts: QuorumScripts, node: number, attempt: number, said: number, last: number): boolean {
    return scripts.confirm?.(this.#at(node), { id: idOf(attempt), said, last }) ?? false;
  }

  forget(scripts: QuorumScripts, node: number): void {
    scripts.forget(this.#at(node));
  }

  known(scripts: QuorumScripts, node: number): number {
    return scripts.known(this.#at(node));
  }

  restart(node: number): void {
    const place = this.#nodes[node] as Place;
    place.valkey.restart({ keep: "nothing" });
    place.client = new EngineClient(place.valkey);
  }

  clear(): void {
    for (const node of this.#nodes.keys()) this.call(node, "FLUSHALL");
  }

  #at(node: number): Call {
    return (...words) => this.call(node, ...words);
  }
}

function idOf(attempt: number): string {
  return `attempt-${attempt}`;
}

interface Place {
  readonly valkey: SimulatedValkey;
  client: EngineClient;
}
