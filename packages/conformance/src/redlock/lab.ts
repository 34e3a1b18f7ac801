/** RedlockLab: a case's surroundings over several independent servers and any mix of client libraries. */
import { Holdfast, IndeterminateError, NoQuorumError, type VersionedRecord } from "holdfast";
import { Redlock, type RedlockOptions } from "holdfast/redlock";
import type {
  Case,
  Contender,
  HoldfastSetup,
  LabLocks,
  LockLab,
  LockPeek,
  LockTamper,
  Need,
  RedisHand,
  Silence,
} from "../case.js";
import type { ManualClock } from "../clock.js";
import { EventLog } from "../events.js";
import type { LabClients, LabServer, OpenClient } from "../lab.js";
import { LabClocks } from "../lab-clocks.js";
import { FaultProxy } from "../proxy.js";
import { QuorumStore } from "../quorum-store.js";
import { until, within } from "../wait.js";
import { LabNode } from "./node.js";
import { Wires } from "./wires.js";

/** A case that is not about silence must not fail because the machine is busy. */
const CALL_TIMEOUT_MS = 10_000;
/** Longer than any lease of a case with its delay. */
const MAX_TTL_MS = 3_600_000;

/** The servers under test. */
export interface LabQuorum {
  readonly title: string;
  readonly servers: readonly LabServer[];
  /** Child processes that know all servers by their URLs. */
  readonly spawn?: (urls: readonly string[], prefix: string) => Promise<Contender>;
  /** As that of a server. */
  readonly isOwn?: LabServer["isOwn"];
}

/** A case of locks over a quorum alone. */
export type RedlockCase = Case<RedlockLab>;

export interface RedlockSetup extends HoldfastSetup, Pick<RedlockOptions, "maxTtl" | "quarantine"> {
  readonly through?: Wires;
}

/** The locks of one process over all nodes, and what else it does with the same clients. */
export interface QuorumLocks extends LabLocks {
  readonly redlock: Redlock;
}

interface Peer extends QuorumLocks {
  /** On the same clients as the locks, one for each node. */
  readonly holdfasts: readonly Holdfast[];
}

let cases = 0;

export class RedlockLab implements LockLab {
  readonly title: string;
  readonly prefix: string;
  readonly lacks: Readonly<Partial<Record<Need, string>>>;
  readonly events: EventLog;
  readonly silence: Silence = { type: NoQuorumError, code: "NO_QUORUM" };
  readonly peek: LockPeek;
  readonly tamper: LockTamper;
  readonly redis: RedisHand;
  readonly nodes: readonly LabNode[];
  /** How many nodes are a quorum. */
  readonly quorum: number;
  readonly #spawn: LabQuorum["spawn"];
  readonly #clients: readonly LabClients[];
  readonly #clocks = new LabClocks();
  readonly #wires: Wires[] = [];
  readonly #peers: Peer[] = [];
  readonly #opened: OpenClient[] = [];
  readonly #contenders: Contender[] = [];
  #names = 0;

  /** @param clients those of the nodes in turn, so that one Redlock mixes them */
  constructor({ title, servers, spawn, isOwn }: LabQuorum, clients: readonly LabClients[]) {
    this.events = new EventLog(isOwn);
    this.prefix = `holdfast:quorum${++cases}-${process.pid}`;
    this.title = `${title}, ${clients.map((each) => each.title).join(" and ")}`;
    this.nodes = servers.map((server) => new LabNode(server, this.prefix));
    this.quorum = Math.floor(servers.length / 2) + 1;
    this.#clients = clients;
    this.#spawn = spawn;
    const store = new QuorumStore(this.nodes.map((node) => node.store));
    [this.peek, this.tamper, this.redis] = [store, store, store];
    const all = (member: keyof LabServer): boolean => servers.every((server) => server[member] !== undefined);
    this.lacks = {
      ...(servers.some(({ ca }) => ca) ? { proxy: "the fault proxy does not read TLS" } : {}),
      ...(all("freeze") && all("thaw") ? {} : { freeze: "these servers cannot be frozen" }),
      ...(all("restart") ? {} : { restart: "these servers cannot be restarted" }),
      ...(all("rollBack") ? {} : { rollback: "these servers keep nothing over a restart" }),
      ...(spawn ? {} : { spawn: "no child processes are set up here" }),
      single:
        "several nodes decide together, which takes a second round of requests and knows no single answer",
    };
  }

  /** Of the first node: a case that needs all of them says so by a setup. */
  url(through?: Wires): string {
    return (this.nodes[0] as LabNode).url(through?.at(0));
  }

  name(stem = "name"): string {
    return `${stem}-${++this.#names}`;
  }

  holdfast(setup: RedlockSetup = {}): Promise<QuorumLocks> {
    return this.over(this.nodes, setup);
  }

  /** The locks of one process over these nodes, in this order, whatever the others do. */
  async over(nodes: readonly LabNode[], setup: RedlockSetup = {}): Promise<QuorumLocks> {
    const { through, byUrl = false, ...options } = setup;
    const urls = nodes.map((node) => node.url(through?.at(this.nodes.indexOf(node))));
    const opened = byUrl ? [] : await Promise.all(urls.map((url, place) => this.#open(url, place)));
    const clients = opened.map(({ client }) => client);
    const { prefix } = this;
    const redlock = new Redlock(byUrl ? urls : clients, {
      ...{ prefix, callTimeout: CALL_TIMEOUT_MS, maxTtl: MAX_TTL_MS, quarantine: 0 },
      ...options,
    });
    const { callTimeout = CALL_TIMEOUT_MS } = options;
    const holdfasts = clients.map((client) => new Holdfast(client, { prefix, callTimeout }));
    const close = async (): Promise<void> => {
      await Promise.all([redlock.close(), ...holdfasts.map((holdfast) => holdfast.close())]);
    };
    const peer: Peer = {
      redlock,
      holdfasts,
      mutex: (name, terms) => redlock.mutex(name, terms),
      close,
      [Symbol.asyncDispose]: close,
    };
    this.#peers.push(peer);
    // It knows its nodes, so that a case that counts or holds back requests meets those of the locks alone.
    if (!byUrl) await redlock.nodes();
    return peer;
  }

  async #open(url: string, place: number): Promise<OpenClient> {
    const library = this.#clients[place % this.#clients.length] as LabClients;
    const opened = await library.open(url, this.nodes[place]?.ca);
    this.#opened.push(opened);
    return opened;
  }

  /** Replies come in the order of the requests, at every node. */
  async settled(locks: LabLocks): Promise<void> {
    await this.settledAt(locks, this.nodes.keys());
  }

  /** Twice, because a request may be sent a turn of the event loop after its call. */
  async settledAt(locks: LabLocks, places: Iterable<number>): Promise<void> {
    const { holdfasts } = this.#peer(locks);
    const at = [...places].map((place) => (holdfasts[place] as Holdfast).record("settled"));
    const ask = async (record: VersionedRecord): Promise<unknown> => {
      try {
        return await record.get();
      } catch (error) {
        // The connection broke, and the requests before this one with it.
        if (error instanceof IndeterminateError) return record.get();
        throw error;
      }
    };
    for (let round = 0; round < 2; round++) await Promise.all(at.map(ask));
  }

  /**
   * Resolves when this process takes every node for one that votes, which it does not for a while after a node was away. By then the late
   * requests of its claims have reached each node, and claims that are over have given back what they got there.
   */
  async recovered(locks: QuorumLocks): Promise<void> {
    await until("every node votes", async () => {
      const nodes = await locks.redlock.nodes();
      return nodes.every(({ membership }) => membership === "voting");
    });
    await this.settled(locks);
  }

  /** The resource is kept by the first node alone. */
  record(locks: LabLocks, name: string): VersionedRecord {
    return (this.#peer(locks).holdfasts[0] as Holdfast).record(name);
  }

  #peer(locks: LabLocks): Peer {
    const found = this.#peers.find((peer) => peer === locks);
    if (!found) throw new Error("these are not locks of this lab");
    return found;
  }

  manualClock(): ManualClock {
    return this.#clocks.create();
  }

  async proxy(): Promise<Wires> {
    const proxies = this.nodes.map(({ host, port }) => FaultProxy.start({ host, port }));
    const wires = new Wires(await Promise.all(proxies));
    this.#wires.push(wires);
    return wires;
  }

  async freezeServer(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.freeze()));
  }

  async thawServer(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.thaw()));
  }

  /** Every node loses its memory: a quorum that forgets is the loss that a single server has. */
  async restartServer(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.restart()));
  }

  /** Resolves when every node has run for so long, as it says: whoever asks from then on finds none that is new. */
  async ripe(uptimeS: number): Promise<void> {
    for (const node of this.nodes) {
      await until(`a node that has run for ${uptimeS} s`, async () => (await node.uptimeS()) >= uptimeS);
    }
  }

  async spawn(): Promise<Contender> {
    if (!this.#spawn) throw new Error(this.lacks.spawn);
    const contender = await this.#spawn(
      this.nodes.map((node) => node.url()),
      this.prefix,
    );
    this.#contenders.push(contender);
    return contender;
  }

  /** Counted at the first node. */
  async readNumber(key: string): Promise<number> {
    return Number(await (this.nodes[0] as LabNode).command("GET", key));
  }

  /** Ends every fault, then everything that the case made. */
  async close(): Promise<void> {
    for (const node of this.nodes) await node.mend();
    for (const wires of this.#wires) wires.heal();
    await Promise.all(this.#contenders.map((contender) => contender.dismiss()));
    const stopTicking = this.#clocks.run();
    try {
      await within(Promise.all(this.#peers.map((peer) => peer.close())), "the end of every Redlock");
    } finally {
      stopTicking();
      for (const opened of this.#opened) opened.close();
      await Promise.all(this.#wires.map((wires) => wires.close()));
      this.events.close();
    }
  }
}
