/** LabNode: one of the servers of a quorum, which a case looks at, hurts and mends alone. */
import type { LabServer } from "../lab.js";
import type { FaultProxy } from "../proxy.js";
import { RedisStore } from "../redis-store.js";

export class LabNode {
  readonly host: string;
  readonly port: number;
  readonly ca: string | undefined;
  readonly store: RedisStore;
  readonly #server: LabServer;
  readonly #mends: (() => Promise<unknown>)[] = [];
  #frozen = false;

  constructor(server: LabServer, prefix: string) {
    this.host = server.host;
    this.port = server.port;
    this.ca = server.ca;
    this.store = new RedisStore(server.command, prefix);
    this.#server = server;
  }

  url(through?: FaultProxy): string {
    const { host, port, user, ca } = this.#server;
    const url = new URL(`${ca ? "rediss" : "redis"}://${host}:${through?.port ?? port}`);
    url.username = user?.name ?? "";
    url.password = user?.password ?? "";
    return url.href;
  }

  /** On a connection that no fault touches. */
  command(...words: string[]): Promise<unknown> {
    return this.#server.command(...words);
  }

  /** Stops it, with its connections open. */
  async freeze(): Promise<void> {
    this.#frozen = true;
    await this.#server.freeze?.();
  }

  async thaw(): Promise<void> {
    this.#frozen = false;
    await this.#server.thaw?.();
  }

  /** It comes back without its memory. */
  async restart(): Promise<void> {
    await this.#server.restart?.();
  }

  /** It comes back as it was when it was last told to `save`. */
  async rollBack(): Promise<void> {
    await this.#server.rollBack?.();
  }

  async save(): Promise<void> {
    await this.command("SAVE");
  }

  /** For how long it has run, as it says: whole seconds. */
  async uptimeS(): Promise<number> {
    const info = String(await this.command("INFO", "server"));
    return Number(/uptime_in_seconds:(\d+)/.exec(info)?.[1]);
  }

  /** Becomes a copy of another server. */
  async follow({ host, port }: LabNode): Promise<void> {
    this.#mends.push(() => this.command("REPLICAOF", "NO", "ONE"));
    await this.command("REPLICAOF", host, String(port));
  }

  /** Answers no INFO any more. */
  async forbidInfo(): Promise<void> {
    const user = this.#server.user?.name ?? "default";
    this.#mends.push(() => this.command("ACL", "SETUSER", user, "+info"));
    await this.command("ACL", "SETUSER", user, "-info");
  }

  /** Ends the faults that a case left. */
  async mend(): Promise<void> {
    if (this.#frozen) await this.thaw();
    for (const mend of this.#mends.splice(0)) await mend();
  }
}
