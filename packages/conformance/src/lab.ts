/** RedisLab: a case's surroundings over any Redis or Valkey and any client library. */
import { Holdfast, IndeterminateError, type RedisClientLike, type VersionedRecord } from "holdfast";
import type {
  Contender,
  HoldfastSetup,
  LabLocks,
  LockLab,
  LockPeek,
  LockTamper,
  Need,
  NounLab,
  RedisHand,
  Silence,
} from "./case.js";
import type { ManualClock } from "./clock.js";
import { EventLog } from "./events.js";
import { LabClocks } from "./lab-clocks.js";
import type { Target } from "./network.js";
import { FaultProxy } from "./proxy.js";
import { RedisStore, type SendCommand } from "./redis-store.js";
import { within } from "./wait.js";

/** A case that is not about silence must not fail because the machine is busy. */
const CALL_TIMEOUT_MS = 10_000;

/** The server under test. What is left out is lacking, for the reason in `lacks`. */
export interface LabServer extends Target {
  readonly title: string;
  /** Who the clients are to the server; its default user when left out. Their keys begin with "holdfast:". */
  readonly user?: { readonly name: string; readonly password: string };
  /** The authority behind its certificate, in PEM: it speaks TLS, which the fault proxy cannot read. */
  readonly ca?: string;
  /** On a connection that no fault touches. */
  readonly command: SendCommand;
  readonly freeze?: () => Promise<void>;
  readonly thaw?: () => Promise<void>;
  /** Ends it and starts it anew, without its memory. */
  readonly restart?: () => Promise<void>;
  /** Ends it and starts it anew with what it kept at its last SAVE. */
  readonly rollBack?: () => Promise<void>;
  readonly spawn?: (url: string, prefix: string) => Promise<Contender>;
  /** Whether code of the case runs, and none of a contender. Left out, contenders are other processes. */
  readonly isOwn?: () => boolean;
}

export interface OpenClient {
  readonly client: RedisClientLike;
  close(): void;
}

/** The client library under test. */
export interface LabClients {
  readonly title: string;
  /** A client whose connection stands: a case that holds back answers would mistake those of the handshake for its own. */
  open(url: string, ca?: string): Promise<OpenClient>;
}

/** A setup, with this lab's own kind of proxy. */
interface RedisSetup extends HoldfastSetup {
  readonly through?: FaultProxy;
}

let cases = 0;

export class RedisLab implements LockLab, NounLab {
  readonly title: string;
  readonly prefix: string;
  readonly lacks: Readonly<Partial<Record<Need, string>>>;
  readonly events: EventLog;
  readonly peek: LockPeek;
  readonly tamper: LockTamper;
  readonly redis: RedisHand;
  readonly silence: Silence = { type: IndeterminateError, code: "INDETERMINATE" };
  readonly #server: LabServer;
  readonly #clients: LabClients;
  readonly #clocks = new LabClocks();
  readonly #proxies: FaultProxy[] = [];
  readonly #holdfasts: Holdfast[] = [];
  readonly #opened: OpenClient[] = [];
  readonly #contenders: Contender[] = [];
  #frozen = false;
  #names = 0;

  constructor(server: LabServer, clients: LabClients) {
    this.#server = server;
    this.#clients = clients;
    this.events = new EventLog(server.isOwn);
    this.title = `${server.title}, ${clients.title}`;
    this.prefix = `holdfast:case${++cases}-${process.pid}`;
    const store = new RedisStore(server.command, this.prefix);
    [this.peek, this.tamper, this.redis] = [store, store, store];
    this.lacks = {
      ...(server.ca ? { proxy: "the fault proxy does not read TLS" } : {}),
      ...(server.freeze && server.thaw ? {} : { freeze: "this server cannot be frozen" }),
      ...(server.restart ? {} : { restart: "this server cannot be restarted" }),
      ...(server.spawn ? {} : { spawn: "no child processes are set up here" }),
    };
  }

  url(through?: FaultProxy): string {
    const { host, port, user, ca } = this.#server;
    const url = new URL(`${ca ? "rediss" : "redis"}://${host}:${through?.port ?? port}`);
    url.username = user?.name ?? "";
    url.password = user?.password ?? "";
    return url.href;
  }

  name(stem = "name"): string {
    return `${stem}-${++this.#names}`;
  }

  async holdfast(setup: RedisSetup = {}): Promise<Holdfast> {
    const { through, byUrl = false, ...options } = setup;
    const holdfast = new Holdfast(byUrl ? this.url(through) : await this.client(through), {
      prefix: this.prefix,
      callTimeout: CALL_TIMEOUT_MS,
      ...options,
    });
    this.#holdfasts.push(holdfast);
    return holdfast;
  }

  async client(through?: FaultProxy): Promise<RedisClientLike> {
    const opened = await this.#clients.open(this.url(through), this.#server.ca);
    this.#opened.push(opened);
    return opened.client;
  }

  command(...words: string[]): Promise<unknown> {
    return this.#server.command(...words);
  }

  /** Replies come in the order of the requests, and what waits for the end of this turn leaves after the first of these two. */
  async settled(locks: LabLocks): Promise<void> {
    await this.record(locks, "settled").get();
    await this.record(locks, "settled").get();
  }

  record(locks: LabLocks, name: string): VersionedRecord {
    return (locks as Holdfast).record(name);
  }

  manualClock(): ManualClock {
    return this.#clocks.create();
  }

  async proxy(): Promise<FaultProxy> {
    const { host, port } = this.#server;
    const proxy = await FaultProxy.start({ host, port });
    this.#proxies.push(proxy);
    return proxy;
  }

  async freezeServer(): Promise<void> {
    this.#frozen = true;
    await this.#server.freeze?.();
  }

  async thawServer(): Promise<void> {
    this.#frozen = false;
    await this.#server.thaw?.();
  }

  async restartServer(): Promise<void> {
    await this.#server.restart?.();
  }

  async spawn(): Promise<Contender> {
    if (!this.#server.spawn) throw new Error(this.lacks.spawn);
    const contender = await this.#server.spawn(this.url(), this.prefix);
    this.#contenders.push(contender);
    return contender;
  }

  async readNumber(key: string): Promise<number> {
    return Number(await this.#server.command("GET", key));
  }

  /** Ends every fault, then everything that the case made. */
  async close(): Promise<void> {
    if (this.#frozen) await this.thawServer();
    for (const proxy of this.#proxies) proxy.heal();
    await Promise.all(this.#contenders.map((contender) => contender.dismiss()));
    const stopTicking = this.#clocks.run();
    try {
      await within(
        Promise.all(this.#holdfasts.map((holdfast) => holdfast.close())),
        "the end of every Holdfast",
      );
    } finally {
      stopTicking();
      for (const opened of this.#opened) opened.close();
      await Promise.all(this.#proxies.map((proxy) => proxy.close()));
      this.events.close();
    }
  }
}
