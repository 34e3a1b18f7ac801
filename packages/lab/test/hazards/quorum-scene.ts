/** Several independent servers in the world of a scene, and plain Redlock over them. */
import type { Redlock, RedlockOptions } from "holdfast/redlock";
import type { Node } from "../../src/sim/node.js";
import { redlockOn } from "../../src/sim/redlock-on.js";
import type { SimClient } from "../../src/sim/sim-client.js";
import type { Program, Scene } from "./scene.js";

export const TTL_MS = 3_000;
/** What a server that restarted waits for before it votes. */
export const MAX_TTL_MS = 4_000;

/** Up for an hour, unless said. */
export function servers(scene: Scene, count: number, upForMs = 3_600_000): readonly Node[] {
  return Array.from({ length: count }, (_, place) => scene.world.node(`server ${place + 1}`, { upForMs }));
}

/** Call it in a turn of the program. */
export function redlock(program: Program, nodes: readonly Node[], options: RedlockOptions = {}): Redlock {
  const links = nodes.map((node) => program.link(node));
  return redlockOn(links, { maxTtl: MAX_TTL_MS, ...options });
}

export function cutOff(program: Program, nodes: readonly Node[]): void {
  for (const node of nodes) {
    program.link(node).block("toNode");
    program.link(node).block("toProcess");
  }
}

const DELETE_IF_OWN = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`;

export interface PlainOptions {
  readonly quorum?: number;
  /** Longest wait for one server. */
  readonly patienceMs?: number;
  /** Whether it looks at the clock when it has its majority. */
  readonly checksTime?: boolean;
}

/** The five steps of the documents: SET NX PX at all servers, a majority, the time that is left, a release at all. */
export class PlainRedlock {
  readonly #program: Program;
  readonly #clients: readonly SimClient[];
  readonly #options: Required<PlainOptions>;

  constructor(program: Program, nodes: readonly Node[], options: PlainOptions = {}) {
    this.#program = program;
    this.#clients = nodes.map((node) => program.client({}, node));
    const quorum = Math.floor(nodes.length / 2) + 1;
    this.#options = { quorum, patienceMs: 50, checksTime: true, ...options };
  }

  async tryAcquire(): Promise<boolean> {
    const { quorum, checksTime } = this.#options;
    const sentMs = this.#program.nowMs;
    const set = ["SET", "it", this.#program.name, "NX", "PX", String(TTL_MS)];
    const votes = await Promise.all(this.#clients.map((client) => this.#inTime(client.call(...set))));
    const isInTime = this.#program.nowMs - sentMs < TTL_MS;
    if (votes.filter((vote) => vote === "OK").length >= quorum && (isInTime || !checksTime)) return true;
    await this.release();
    return false;
  }

  async release(): Promise<void> {
    const words = ["EVAL", DELETE_IF_OWN, "1", "it", this.#program.name];
    await Promise.all(this.#clients.map((client) => this.#inTime(client.call(...words))));
  }

  #inTime(call: Promise<unknown>): Promise<unknown> {
    const late = this.#program.sleep(this.#options.patienceMs);
    return Promise.race([call.catch(() => undefined), late]);
  }
}
