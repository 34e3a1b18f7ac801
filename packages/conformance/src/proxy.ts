/**
 * FaultProxy: a TCP proxy before a Redis server that can do what networks do. It knows the connection
 * that a client listens on (it has sent SUBSCRIBE) from the one that carries commands, so that either
 * can be hurt alone, and it counts what the client sends.
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Direction, Faults, Kind, Link, SocketFile, Target } from "./network.js";
import { RequestReader } from "./requests.js";
import { afterRealMs } from "./time.js";
import { type Wire, whenMet } from "./wire.js";

const HOST = "127.0.0.1";
const PONG = Buffer.from("+PONG\r\n");
/** What clients say of their own accord when they have connected. */
const GREETINGS = new Set(["HELLO", "AUTH", "SELECT", "CLIENT", "INFO", "READONLY", "PING"]);

export class FaultProxy implements Wire {
  readonly #listener: Server;
  /** New connections go to each in turn. */
  #targets: readonly (Target | SocketFile)[];
  #accepted = 0;
  readonly #links = new Set<Link>();
  readonly #watchers = new Set<() => void>();
  readonly #faults: Record<Kind, Faults> = {
    commands: { up: "pass", down: "pass", downDelayMs: 0 },
    inbox: { up: "pass", down: "pass", downDelayMs: 0 },
  };
  #refuses = false;
  #requests: string[][] = [];
  #writes = 0;
  #dropped = { up: 0, down: 0 };

  private constructor(target: Target | SocketFile) {
    this.#targets = [target];
    this.#listener = createServer({ noDelay: true }, (client) => this.#accept(client));
  }

  static async start(target: Target | SocketFile): Promise<FaultProxy> {
    const proxy = new FaultProxy(target);
    await new Promise<void>((resolve) => proxy.#listener.listen(0, HOST, resolve));
    return proxy;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  get url(): string {
    return `redis://${HOST}:${this.port}`;
  }

  /** New connections go to these servers, each in turn, as through a balancer. Open ones stay where they are. */
  moveTo(...targets: readonly Target[]): void {
    this.#targets = targets;
    this.#accepted = 0;
  }

  /** Changes the treatment of bytes from now on, those that are held included. */
  set(faults: Partial<Faults>, kind?: Kind): void {
    for (const each of kind ? [kind] : (["commands", "inbox"] as const)) {
      Object.assign(this.#faults[each], faults);
    }
    for (const link of this.#links) this.#flush(link);
    this.#noteActivity();
  }

  /** Ends every fault. What was held arrives. */
  heal(): void {
    this.#refuses = false;
    for (const link of this.#links) if (link.torn && link.kind === "commands") this.#break(link);
    this.set({ up: "pass", down: "pass", downDelayMs: 0 });
  }

  /** Breaks the connections, with what is held in them. Clients may connect anew. */
  cut(kind?: Kind): void {
    for (const link of this.#links) if (!kind || link.kind === kind) this.#break(link);
  }

  /** Breaks all connections and takes no new ones until `heal()`. */
  refuse(): void {
    this.#refuses = true;
    this.cut();
  }

  /**
   * Breaks the connections for the client alone: what is held on the way up stays under way, as in a
   * middlebox, until `deliverStranded()`. Faults are over for new connections.
   */
  strand(): void {
    for (const link of this.#links) {
      link.stranded = true;
      link.client.resetAndDestroy();
    }
    this.heal();
  }

  /** Swallows what comes over the connections of now, which stay open. New ones are sound. */
  swallow(): void {
    for (const link of this.#links) link.stranded = true;
  }

  /** Lets what was stranded arrive; resolves when the server has read it all. */
  async deliverStranded(): Promise<void> {
    const links = [...this.#links].filter((link) => link.stranded);
    for (const link of links) {
      for (const bytes of link.held.up.splice(0)) link.server.write(bytes);
      link.server.end();
    }
    await this.when("the server has read what was stranded", () =>
      links.every((link) => !this.#links.has(link)),
    );
  }

  /** Open connections. */
  get connections(): number {
    return this.#links.size;
  }

  /** Commands that the client sent since the last `forget()`, each as its words. */
  get requests(): readonly (readonly string[])[] {
    return this.#requests;
  }

  /** Script calls that the client sent since the last `forget()`. */
  get scriptCalls(): readonly (readonly string[])[] {
    return this.#requests.filter(([verb = ""]) => verb.toUpperCase().startsWith("EVAL"));
  }

  /** Pieces in which the client's bytes came since the last `forget()`. */
  get writes(): number {
    return this.#writes;
  }

  /** Starts counting anew. */
  forget(): void {
    this.#requests = [];
    this.#writes = 0;
    this.#dropped = { up: 0, down: 0 };
  }

  /** Pieces of bytes held back now. */
  held(direction: Direction, kind?: Kind): number {
    let pieces = 0;
    for (const link of this.#links) if (!kind || link.kind === kind) pieces += link.held[direction].length;
    return pieces;
  }

  /** Pieces of bytes dropped since the last `forget()`. */
  dropped(direction: Direction): number {
    return this.#dropped[direction];
  }

  /** Resolves when the condition holds; looked at whenever something happens here. */
  when(what: string, condition: () => boolean): Promise<void> {
    return whenMet(what, condition, [this]);
  }

  /** Calls `look` whenever something happens here. Returns what ends that. */
  watch(look: () => void): () => void {
    this.#watchers.add(look);
    return () => this.#watchers.delete(look);
  }

  /**
   * Resolves when an answer to a call is held back: the call was carried out. What a client asks by itself does not
   * count: the greeting of a new connection, and GLIDE's PING.
   */
  whenAnswerHeld(): Promise<void> {
    const isAnswered = ({ kind, calls, held }: Link): boolean =>
      kind === "commands" && calls && held.down.some((bytes) => !bytes.equals(PONG));
    return this.when("an answer that is held back", () => [...this.#links].some(isAnswered));
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()));
    this.cut();
    await closed;
  }

  #accept(client: Socket): void {
    if (this.#refuses) {
      client.on("error", () => {});
      client.resetAndDestroy();
      return;
    }
    const target = this.#targets[this.#accepted % this.#targets.length] as Target | SocketFile;
    this.#accepted += 1;
    const server = connect({ ...target, noDelay: true });
    const link: Link = {
      kind: "commands",
      calls: false,
      client,
      server,
      held: { up: [], down: [] },
      delayed: [],
      torn: false,
      stranded: false,
    };
    this.#links.add(link);
    const reader = new RequestReader();
    client.on("data", (bytes) => {
      this.#count(link, reader, bytes);
      this.#take(link, "up", bytes);
    });
    server.on("data", (bytes) => {
      const { downDelayMs } = this.#faults[link.kind];
      // What came before goes first, also when delays end: bytes of a stream never overtake each other.
      if (downDelayMs === 0 && link.delayed.length === 0) return this.#take(link, "down", bytes);
      link.delayed.push(bytes);
      afterRealMs(downDelayMs, () => this.#take(link, "down", link.delayed.shift() as Buffer));
    });
    for (const socket of [client, server]) {
      socket.on("error", () => {}); // "close" follows
      socket.on("close", () => {
        if (socket === server || !link.stranded) this.#break(link);
      });
    }
    this.#noteActivity();
  }

  #count(link: Link, reader: RequestReader, bytes: Buffer): void {
    this.#writes += 1;
    for (const words of reader.read(bytes)) {
      const verb = words[0]?.toUpperCase() ?? "";
      if (verb === "SUBSCRIBE") link.kind = "inbox";
      link.calls ||= !GREETINGS.has(verb);
      this.#requests.push(words);
    }
  }

  #take(link: Link, direction: Direction, bytes: Buffer): void {
    if (link.stranded) return;
    const treatment = this.#faults[link.kind][direction];
    if (treatment === "drop") this.#drop(link, direction);
    else {
      link.held[direction].push(bytes);
      this.#flush(link);
    }
    this.#noteActivity();
  }

  #flush(link: Link): void {
    if (link.stranded) return;
    for (const direction of ["up", "down"] as const) {
      const treatment = this.#faults[link.kind][direction];
      if (treatment === "hold") continue;
      const sink = direction === "up" ? link.server : link.client;
      for (const bytes of link.held[direction].splice(0)) {
        if (treatment === "drop") this.#drop(link, direction);
        else if (!sink.destroyed) sink.write(bytes);
      }
    }
  }

  #drop(link: Link, direction: Direction): void {
    this.#dropped[direction] += 1;
    link.torn = true;
  }

  #break(link: Link): void {
    if (!this.#links.delete(link)) return;
    link.client.resetAndDestroy();
    // Only TCP has a reset.
    if (link.server.remotePort === undefined) link.server.destroy();
    else link.server.resetAndDestroy();
    this.#noteActivity();
  }

  #noteActivity(): void {
    for (const look of this.#watchers) look();
  }
}
