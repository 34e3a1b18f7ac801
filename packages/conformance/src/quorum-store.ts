/** QuorumStore: the store's side of a case over several servers, each of which keeps a part. */
import type { LockStore } from "./case.js";
import type { RedisStore } from "./redis-store.js";
import { until } from "./wait.js";

/** A claim has a seat at each node: its own id, with a number behind it. */
const claimOf = (seat: string): string => seat.split(".", 1)[0] as string;

export class QuorumStore implements LockStore {
  readonly #nodes: readonly RedisStore[];
  readonly #quorum: number;

  constructor(nodes: readonly RedisStore[]) {
    this.#nodes = nodes;
    this.#quorum = Math.floor(nodes.length / 2) + 1;
  }

  /** Until a quorum of the nodes is free. */
  async leftMs(name: string): Promise<number | null> {
    const each = await this.#each((node) => node.leftMs(name));
    const rising = each.map((leftMs) => leftMs ?? 0).sort((one, other) => one - other);
    return rising[this.#quorum - 1] || null;
  }

  /**
   * Claims that wait for a quorum: in line at a node, or holding it without a quorum of others. A place at one node alone is on its
   * way: all nodes come to know the same claims.
   */
  async waiting(name: string): Promise<number> {
    return await until(`the same claims wait for '${name}' at every node`, async () => {
      const seats = await this.#each(async (node) => ({
        holder: (await node.leftMs(name)) === null ? "" : claimOf((await node.holder(name))?.id ?? ""),
        line: (await node.line(name)).map(claimOf),
      }));
      const held = (id: string): number => seats.filter(({ holder }) => holder === id).length;
      const waits = (id: string): boolean => id !== "" && held(id) < this.#quorum;
      const [first = "", ...others] = seats.map(({ holder, line }) =>
        [...new Set([holder, ...line])].filter(waits).sort().join(" "),
      );
      return others.every((other) => other === first) ? first.split(" ").filter(Boolean).length : null;
    });
  }

  /** What one node alone keeps is on its way out. */
  async residue(name: string): Promise<string[]> {
    return this.#agreed(`the same kept of '${name}' at every node`, (node) => node.residue(name));
  }

  async everlasting(name: string): Promise<string[]> {
    return (await this.#each((node) => node.everlasting(name))).flat();
  }

  async seize(name: string): Promise<void> {
    await this.#each((node) => node.seize(name));
  }

  async forget(name: string): Promise<void> {
    await this.#each((node) => node.forget(name));
  }

  /** A process is unknown when no node can reach it. */
  async listeners(): Promise<number> {
    return Math.max(...(await this.#each((node) => node.listeners())));
  }

  async tear(name: string, part: "holder" | "order" | "entries"): Promise<void> {
    await this.#each((node) => node.tear(name, part));
  }

  async setToken(name: string, token: bigint): Promise<void> {
    await this.#each((node) => node.setToken(name, token));
  }

  async forgetToken(name: string): Promise<void> {
    await this.#each((node) => node.forgetToken(name));
  }

  /** A token counts for as long as a quorum keeps it. */
  async tokenLeftMs(name: string): Promise<number> {
    const each = await this.#each((node) => node.tokenLeftMs(name));
    return each.sort((one, other) => other - one)[this.#quorum - 1] as number;
  }

  async spoil(name: string): Promise<void> {
    await this.#each((node) => node.spoil(name));
  }

  async forgetScripts(): Promise<void> {
    await this.#each((node) => node.forgetScripts());
  }

  /** The clock that is last of all. */
  async nowMicros(): Promise<bigint> {
    const each = await this.#each((node) => node.nowMicros());
    return each.sort((one, other) => Number(one - other))[0] as bigint;
  }

  #each<Value>(ask: (node: RedisStore) => Promise<Value>): Promise<Value[]> {
    return Promise.all(this.#nodes.map(ask));
  }

  /** The answer of all nodes, once it is one. */
  async #agreed<Value>(what: string, ask: (node: RedisStore) => Promise<Value>): Promise<Value> {
    const { value } = await until(what, async () => {
      const [first, ...others] = await this.#each(ask);
      const same = others.every((other) => JSON.stringify(other) === JSON.stringify(first));
      return same ? { value: first as Value } : null;
    });
    return value;
  }
}
