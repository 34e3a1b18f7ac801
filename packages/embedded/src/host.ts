/**
 * The "host" imports: sockets and readiness, as the engine sees them.
 *
 * Descriptors from 4096 up belong here. The engine indexes a table with them, so a new one is always
 * the lowest free one: counting up would run out of the table after some 6,000 connections.
 */
import { Connection, type Endpoint, type ValkeyPeer } from "./connection.js";
import type { EngineMemory } from "./memory.js";
import type { ImportTable } from "./wasm.js";

const firstDescriptor = 4096;
const readable = 1;
const writable = 2;
const bytesPerPair = 8;
const failed = -1;
const tryAgain = -1;
const fullReply = new TextEncoder().encode("-ERR max number of clients reached\r\n");

/** Calls at moments that only the engine's host can see; a virtual clock needs them. */
export interface ValkeyHooks {
  /** The engine asks which connections are ready; also happens in the middle of a long script. */
  onPoll?(): void;
  /** The engine reads a command's bytes. */
  onRead?(): void;
}

class Listener implements Endpoint {
  fd: number;
  isHot = false;
  port = 0;
  readonly isWritable = false;
  readonly pending: Connection[] = [];

  constructor(fd: number) {
    this.fd = fd;
  }

  get isReadable(): boolean {
    return this.pending.length > 0;
  }
}

/** An endpoint as a snapshot remembers it: of a listener the port, of a connection only that it was there. */
export interface EndpointRecord {
  readonly fd: number;
  readonly listenPort: number | null;
}

export class Host {
  readonly imports: ImportTable;
  readonly #memory: () => EngineMemory;
  readonly #hooks: ValkeyHooks;
  #endpoints: (Connection | Listener | undefined)[] = [];
  #lowestMaybeFree = 0;
  #hot: Endpoint[] = [];
  #connectionCount = 0;
  #tableSize = Number.POSITIVE_INFINITY;
  #firedCount = 0;
  /** Those on which the engine may listen; null: any, while it starts. */
  #ports: ReadonlySet<number> | null = null;

  constructor(memory: () => EngineMemory, hooks: ValkeyHooks) {
    this.#memory = memory;
    this.#hooks = hooks;
    this.imports = {
      socket: () => this.#add(new Listener(0)),
      listen: (fd: number, port: number) => this.#listen(fd, port),
      accept: (fd: number) => this.#accept(fd),
      read: (fd: number, pointer: number, length: number) => this.#read(fd, pointer, length),
      write: (fd: number, pointer: number, length: number) => this.#write(fd, pointer, length),
      close: (fd: number) => this.#close(fd),
      poll: (interest: number, count: number, fired: number, max: number) =>
        this.#poll(interest, count, fired, max),
    };
  }

  get connectionCount(): number {
    return this.#connectionCount;
  }

  /** How many endpoints the latest poll reported as ready. */
  get firedCount(): number {
    return this.#firedCount;
  }

  /** The engine has started: nobody would ever connect to another port than those it has now. */
  keepPorts(): void {
    const listeners = this.#endpoints.filter((endpoint) => endpoint instanceof Listener);
    this.#ports = new Set(listeners.map(({ port }) => port));
  }

  /** Puts a client in the line of the listener on `port`; null when nothing listens there. */
  connect(port: number, peer: ValkeyPeer): Connection | null {
    const listener = this.#endpoints.find((e): e is Listener => e instanceof Listener && e.port === port);
    if (listener === undefined) return null;
    const connection = new Connection(peer, this.#wake);
    listener.pending.push(connection);
    this.#wake(listener);
    return connection;
  }

  /** The engine is gone: every client hears that its connection is closed. */
  closeAll(): void {
    const endpoints = this.#endpoints;
    this.#endpoints = [];
    this.#hot = [];
    this.#lowestMaybeFree = 0;
    this.#connectionCount = 0;
    for (const endpoint of endpoints) {
      if (endpoint instanceof Connection) endpoint.close();
      else for (const waiting of endpoint?.pending ?? []) waiting.close();
    }
  }

  records(): EndpointRecord[] {
    const records: EndpointRecord[] = [];
    for (const endpoint of this.#endpoints) {
      if (endpoint === undefined) continue;
      records.push({ fd: endpoint.fd, listenPort: endpoint instanceof Listener ? endpoint.port : null });
    }
    return records;
  }

  /** Takes over a snapshot's descriptors: listeners listen again, former clients have hung up. */
  adopt(records: readonly EndpointRecord[]): void {
    for (const { fd, listenPort } of records) {
      if (listenPort === null) {
        const connection = new Connection({ receive: () => {} }, this.#wake);
        this.#place(connection, fd);
        connection.vanish();
      } else {
        const listener = new Listener(fd);
        listener.port = listenPort;
        this.#place(listener, fd);
      }
    }
  }

  #wake = (endpoint: Endpoint): void => {
    if (endpoint.isHot) return;
    endpoint.isHot = true;
    this.#hot.push(endpoint);
  };

  #lowestFree(): number {
    let index = this.#lowestMaybeFree;
    while (this.#endpoints[index] !== undefined) index += 1;
    this.#lowestMaybeFree = index;
    return firstDescriptor + index;
  }

  #add(endpoint: Connection | Listener): number {
    this.#place(endpoint, this.#lowestFree());
    return endpoint.fd;
  }

  #place(endpoint: Connection | Listener, fd: number): void {
    endpoint.fd = fd;
    this.#endpoints[fd - firstDescriptor] = endpoint;
    if (endpoint instanceof Connection) this.#connectionCount += 1;
  }

  #listen(fd: number, port: number): number {
    const listener = this.#endpoints[fd - firstDescriptor];
    if (!(listener instanceof Listener)) return failed;
    // The engine refuses `CONFIG SET port` then, and listens again where it did.
    if (this.#ports && !this.#ports.has(port)) return failed;
    listener.port = port;
    return 0;
  }

  #accept(fd: number): number {
    const listener = this.#endpoints[fd - firstDescriptor];
    if (!(listener instanceof Listener)) return tryAgain;
    for (;;) {
      const connection = listener.pending.shift();
      if (connection === undefined) return tryAgain;
      if (this.#lowestFree() < this.#tableSize) return this.#add(connection);
      // Beyond its table the engine would accept the client and then never look at it.
      connection.refuse(fullReply);
    }
  }

  #read(fd: number, pointer: number, length: number): number {
    this.#hooks.onRead?.();
    const connection = this.#endpoints[fd - firstDescriptor];
    // There is no way to report a reset: an end of input (0) closes the client just as well.
    if (!(connection instanceof Connection)) return 0;
    return connection.readInto(this.#memory().bytes, pointer >>> 0, length) ?? tryAgain;
  }

  #write(fd: number, pointer: number, length: number): number {
    const connection = this.#endpoints[fd - firstDescriptor];
    if (!(connection instanceof Connection)) return failed;
    // The engine asks for readiness to write only after it has written, so a written connection is hot.
    this.#wake(connection);
    return connection.writeFrom(this.#memory().bytes, pointer >>> 0, length);
  }

  #close(fd: number): void {
    const index = fd - firstDescriptor;
    const endpoint = this.#endpoints[index];
    if (endpoint === undefined) return;
    this.#endpoints[index] = undefined;
    this.#lowestMaybeFree = Math.min(this.#lowestMaybeFree, index);
    if (endpoint instanceof Connection) {
      this.#connectionCount -= 1;
      endpoint.close();
    } else {
      for (const waiting of endpoint.pending.splice(0)) waiting.close();
    }
  }

  /**
   * Looks only at endpoints where something happened since they were last found idle, in the order
   * it happened. A thousand silent connections cost nothing here.
   */
  #poll(interest: number, count: number, fired: number, max: number): number {
    this.#hooks.onPoll?.();
    // Room for one answer per row of the engine's table: the only place where its size can be seen.
    this.#tableSize = max;
    const words = this.#memory().words;
    const hot = this.#hot;
    let out = fired >>> 2;
    let firedCount = 0;
    let kept = 0;
    for (const endpoint of hot) {
      const mask = interestOf(words, interest >>> 2, count, endpoint.fd);
      const isReadable = endpoint.isReadable;
      let ready = isReadable ? mask & readable : 0;
      if ((mask & writable) !== 0 && endpoint.isWritable) ready |= writable;
      if (ready !== 0 && firedCount < max) {
        words[out] = endpoint.fd;
        words[out + 1] = ready;
        out += bytesPerPair / 4;
        firedCount += 1;
      }
      // Unread input stays hot even while the engine does not ask for it, as with a paused client.
      if (ready !== 0 || isReadable) hot[kept++] = endpoint;
      else endpoint.isHot = false;
    }
    hot.length = kept;
    this.#firedCount = firedCount;
    return firedCount;
  }
}

/** Binary search in the engine's list of (descriptor, mask) pairs, which ascends by descriptor. */
function interestOf(words: Int32Array, list: number, count: number, fd: number): number {
  let low = 0;
  let high = count - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = words[list + middle * 2] as number;
    if (found === fd) return words[list + middle * 2 + 1] as number;
    if (found < fd) low = middle + 1;
    else high = middle - 1;
  }
  return 0;
}
