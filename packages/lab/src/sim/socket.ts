/** A socket of a world: what `net.createConnection` gives to a client library there. */
import type { Link } from "./link.js";
import { SocketShape } from "./socket-shape.js";
import type { Wire } from "./wire.js";

export class WorldSocket extends SocketShape {
  timeout = 0;
  readonly #wire: Wire;
  readonly #link: Link;
  #cancelTimeout: () => void = () => {};

  constructor(link: Link, port: number) {
    super(link.node.name, port);
    this.#link = link;
    this.#wire = link.connect({
      opened: () => this.#opened(),
      received: (bytes) => {
        this.#heard();
        this.push(bytes);
      },
      closed: (error) => this.#closed(error),
    });
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#heard();
    if (this.connecting) this.once("connect", () => this.#send(chunk, done));
    else this.#send(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#wire.close();
    done();
    this.push(null);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#cancelTimeout();
    this.#wire.close();
    done(error);
  }

  resetAndDestroy(): this {
    return this.destroy();
  }

  setTimeout(timeoutMs: number, callback?: () => void): this {
    this.timeout = timeoutMs;
    if (callback) this.once("timeout", callback);
    this.#heard();
    return this;
  }

  #send(chunk: Uint8Array, done: () => void): void {
    this.#wire.send(Uint8Array.from(chunk));
    done();
  }

  #opened(): void {
    this.connecting = false;
    this.#heard();
    this.emit("connect");
    this.emit("ready");
  }

  #closed(error: Error | null): void {
    this.connecting = false;
    if (error) this.destroy(Object.assign(error, { code: error.message.split(" ").at(-1) }));
    else this.push(null);
  }

  /** Silence counts from now. */
  #heard(): void {
    this.#cancelTimeout();
    this.#cancelTimeout = () => {};
    if (this.timeout > 0 && !this.destroyed)
      this.#cancelTimeout = this.#link.process.after(this.timeout, () => this.emit("timeout"));
  }
}
