/** Three real engines on one clock that stands still unless told, and the scripts of a design: what a model says, done. */
import { compileValkey, SimulatedValkey } from "@holdfast/embedded";
import { script as confirmScript } from "../../src/model/quorum/confirm.lua.js";
import { script as grantScript } from "../../src/model/quorum/grant.lua.js";
import { type Reply, ReplyError } from "../../src/sim/resp.js";
import { EngineClient } from "./engine-client.js";

export interface QuorumScripts {
  /** KEYS: hold, token. ARGV: nonce, ttl_ms, floor. Returns {1, what it says} or {0, …}. */
  readonly grant: string;
  /** KEYS: hold, token. ARGV: nonce, what the grant said, the token. Returns 1 or 0. */
  readonly confirm: string | null;
  /** From what the grants said. */
  readonly token: (said: readonly number[]) => number;
  readonly text: (token: number) => string;
}

const largest = (said: readonly number[]): number => Math.max(...said);

const plainGrant = (onGrant: string): string => `
  local held = redis.call('GET', KEYS[1])
  if held and held ~= ARGV[1] then return {0, 0, ''} end
  if not held then
    ${onGrant}
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  end
  return {1, redis.call('GET', KEYS[2]) or '0'}`;
const raise = `
  if tonumber(ARGV[3]) > tonumber(redis.call('GET', KEYS[2]) or '0') then redis.call('SET', KEYS[2], ARGV[3]) end
  return 1`;

export const scripts: Readonly<Record<"A" | "B" | "D" | "G", QuorumScripts>> = {
  A: { grant: plainGrant("redis.call('INCR', KEYS[2])"), confirm: null, token: largest, text: String },
  B: { grant: plainGrant(""), confirm: raise, token: (said) => largest(said) + 1, text: String },
  D: {
    grant: plainGrant(""),
    confirm: `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end ${raise}`,
    token: (said) => largest(said) + 1,
    text: String,
  },
  G: {
    grant: grantScript.source,
    confirm: confirmScript.source,
    token: largest,
    text: (token) => String(token).padStart(16, "0"),
  },
};

export const HOLD = "{lock}:hold";
export const TOKEN = "{lock}:token";
const TTL_MS = "30000";

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

  /** What the node says to the attempt that it grants to; null: somebody else holds it. */
  grant({ grant }: QuorumScripts, node: number, attempt: number): number | null {
    const args = ["2", HOLD, TOKEN, `attempt-${attempt}`, TTL_MS, "0"];
    const [status, said] = this.call(node, "EVAL", grant, ...args) as [number, string];
    return status === 1 ? Number(said) : null;
  }

  confirm(scripts: QuorumScripts, node: number, attempt: number, said: number, token: number): boolean {
    const args = [`attempt-${attempt}`, scripts.text(said), scripts.text(token)];
    return this.call(node, "EVAL", scripts.confirm ?? "", "2", HOLD, TOKEN, ...args) === 1;
  }

  /** The lease is not honoured: an eviction, a clock that jumps, a key deleted by hand. */
  forget(node: number): void {
    this.call(node, "DEL", HOLD);
  }

  restart(node: number): void {
    const place = this.#nodes[node] as Place;
    place.valkey.restart({ keep: "nothing" });
    place.client = new EngineClient(place.valkey);
  }

  clear(): void {
    for (const node of this.#nodes.keys()) this.call(node, "FLUSHALL");
  }
}

interface Place {
  readonly valkey: SimulatedValkey;
  client: EngineClient;
}
