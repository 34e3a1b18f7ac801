/**
 * TCP in front of a core: sockets to connections, and the rhythm in which the core is pumped.
 *
 * Pump     once per turn of the event loop in which something arrived (all sockets that are ready share
 *          one pump), and once per tick for the engine's own timers.
 * Pressure a client that does not read: the engine sees a full socket and keeps the rest itself,
 *          where its output limits apply. A client that sends faster than the engine reads is paused.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { ValkeyConnection, ValkeyPeer } from "./connection.js";
import type { ValkeyCore } from "./core.js";
import { ListenError, PortInUseError } from "./errors.js";
import type { Timers } from "./time.js";

const tickMs = 10;
const outboundMaxBytes = 1024 * 1024;
const inboundMaxBytes = 4 * 1024 * 1024;
const keepAliveMs = 300_000;
const lingerMs = 5_000;

/** @throws {PortInUseError} @throws {ListenError} */
export function listen(host: string, port: number): Promise<Server> {
  const server = createServer({
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
  });
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const isTaken = cause.code === "EADDRINUSE";
      reject(isTaken ? new PortInUseError(host, port, { cause }) : new ListenError(host, port, { cause }));
    });
    server.listen({ host, port, backlog: 511 }, () => {
      server.removeAllListeners("error");
      resolve(server);
    });
  });
}

export interface TcpEvents {
  /** Every 10 ms, before the pump. */
  onTick(): void;
  /** After every pump that may have changed something. */
  onPumped(passes: number): void;
  /** The engine is gone. Called once; the front has closed itself. */
  onExited(): void;
  /** A failure that concerns no client in particular. */
  onProblem(text: string): void;
}

export class TcpFront {
  readonly #server: Server;
  readonly #core: ValkeyCore;
  readonly #timers: Timers;
  readonly #events: TcpEvents;
  readonly #peers = new Set<SocketPeer>();
  readonly #stopTicking: () => void;
  #isScheduled = false;
  #isClosed = false;

  constructor(server: Server, core: ValkeyCore, timers: Timers, events: TcpEvents) {
    this.#server = server;
    this.#core = core;
    this.#timers = timers;
    this.#events = events;
    server.on("connection", (socket) => this.#accept(socket));
    server.on("error", (error) => events.onProblem(`accept: ${error.message}`));
    this.#stopTicking = timers.every(tickMs, () => {
      events.onTick();
      this.pump();
    });
  }

  /** Stops listening and drops every client. Resolves when the port is free. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTicking();
    for (const peer of this.#peers) peer.drop();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  pump = (): void => {
    this.#isScheduled = false;
    if (this.#isClosed) return;
    const passes = this.#core.pump();
    this.#events.onPumped(passes);
    if (this.#core.exited !== null) void this.close().then(this.#events.onExited);
  };

  #schedule = (): void => {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#timers.soon(this.pump);
  };

  #accept(socket: Socket): void {
    if (this.#isClosed) {
      socket.destroy();
      return;
    }
    const peer = new SocketPeer(socket, this.#timers, this.#schedule, () => this.#peers.delete(peer));
    this.#peers.add(peer);
    try {
      peer.start(this.#core.connect(peer));
    } catch (error) {
      this.#events.onProblem(String(error));
      peer.drop();
    }
  }
}

/** One socket as the engine's client. */
class SocketPeer implements ValkeyPeer {
  readonly #socket: Socket;
  readonly #timers: Timers;
  readonly #schedule: () => void;
  #isPaused = false;
  #connection: ValkeyConnection | null = null;
  #stopLingering: () => void = () => {};

  constructor(socket: Socket, timers: Timers, schedule: () => void, onGone: () => void) {
    this.#socket = socket;
    this.#timers = timers;
    this.#schedule = schedule;
    // A reset is followed by 'close', which says all there is to do; unheard it would end the process.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#stopLingering();
      this.#connection?.vanish();
      onGone();
      schedule();
    });
  }

  start(connection: ValkeyConnection): void {
    const socket = this.#socket;
    this.#connection = connection;
    socket.on("data", (bytes: Uint8Array) => {
      connection.push(bytes);
      if (connection.unreadBytes > inboundMaxBytes) {
        this.#isPaused = true;
        socket.pause();
      }
      this.#schedule();
    });
    socket.on("end", () => {
      connection.end();
      this.#schedule();
    });
    socket.on("drain", () => {
      connection.drained();
      this.#schedule();
    });
    this.#schedule();
  }

  drop(): void {
    this.#socket.destroy();
  }

  receive(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  roomBytes(): number {
    return outboundMaxBytes - this.#socket.writableLength;
  }

  consumed(): void {
    if (!this.#isPaused || (this.#connection?.unreadBytes ?? 0) > inboundMaxBytes) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** Sends the rest of the written output, as a kernel would, but only for a limited time. */
  closed(): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    if (socket.writableLength > 0) this.#stopLingering = this.#timers.after(lingerMs, () => socket.destroy());
    socket.destroySoon();
  }
}
