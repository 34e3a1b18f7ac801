/**
 * Loopback: the servers that code of a world opens with `net.createServer`, and connections to them: the fault proxies of the
 * conformance suite, for example. Bytes arrive in the next turn of the event loop, and no link has a part in it.
 */
import { EventEmitter } from "node:events";
import { SocketShape } from "./socket-shape.js";
import { soon } from "./time/turn.js";

type Accept = (socket: LoopbackSocket) => void;

const firstPort = 20_001;

export class Loopback {
  readonly #listeners = new Map<number, LoopbackServer>();
  #ports = firstPort;

  /** `net.createServer`, with and without options. */
  createServer(...given: [Accept] | [options: object, Accept]): LoopbackServer {
    const accept = given.at(-1) as Accept;
    return new LoopbackServer(this.#listeners, () => this.#ports++, accept);
  }

  /** A connection to the server at this port; null: no server was ever there. */
  connect(port: number): LoopbackSocket | null {
    if (port < firstPort || port >= this.#ports) return null;
    const near = new LoopbackSocket(port);
    const listener = this.#listeners.get(port);
    if (!listener) soon(() => near.destroy(failure("connect ECONNREFUSED")));
    else listener.accept(near);
    return near;
  }
}

class LoopbackServer extends EventEmitter {
  readonly #listeners: Map<number, LoopbackServer>;
  readonly #draw: () => number;
  readonly #accept: Accept;
  #port = 0;

  constructor(listeners: Map<number, LoopbackServer>, draw: () => number, accept: Accept) {
    super();
    this.#listeners = listeners;
    this.#draw = draw;
    this.#accept = accept;
  }

  listen(_port: number, _host: string, listening: () => void): this {
    this.#port = this.#draw();
    this.#listeners.set(this.#port, this);
    soon(listening);
    return this;
  }

  address(): { port: number } {
    return { port: this.#port };
  }

  close(closed: () => void): this {
    this.#listeners.delete(this.#port);
    soon(closed);
    return this;
  }

  accept(near: LoopbackSocket): void {
    const far = new LoopbackSocket(this.#port, near);
    soon(() => {
      this.#accept(far);
      near.opened(far);
    });
  }
}

export class LoopbackSocket extends SocketShape {
  #peer: LoopbackSocket | null = null;

  /** @param peer the end of who connected, at the end that was accepted */
  constructor(port: number, peer: LoopbackSocket | null = null) {
    super("127.0.0.1", port);
    if (peer) this.#stand(peer);
  }

  opened(peer: LoopbackSocket): void {
    if (this.destroyed) {
      peer.destroy();
      return;
    }
    this.#stand(peer);
    this.emit("connect");
    this.emit("ready");
  }

  #stand(peer: LoopbackSocket): void {
    this.#peer = peer;
    this.connecting = false;
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    const bytes = Uint8Array.from(chunk);
    const send = (): void => {
      const peer = this.#peer;
      soon(() => {
        if (peer && !peer.destroyed) peer.push(Buffer.from(bytes));
      });
      done();
    };
    if (this.connecting) this.once("connect", send);
    else send();
  }

  override _final(done: () => void): void {
    this.#leave(null);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#leave(null);
    done(error);
  }

  resetAndDestroy(): this {
    this.#leave(failure("read ECONNRESET"));
    return this.destroy();
  }

  setTimeout(): this {
    return this;
  }

  /** The other end hears of it after all that was sent. */
  #leave(error: Error | null): void {
    const peer = this.#peer;
    this.#peer = null;
    if (!peer) return;
    soon(() => {
      if (peer.destroyed) return;
      if (error) peer.destroy(error);
      else peer.push(null);
    });
  }
}

function failure(message: string): Error {
  return Object.assign(new Error(message), { code: message.split(" ").at(-1) });
}
