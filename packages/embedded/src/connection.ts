/**
 * One client of the engine, as bytes in and bytes out. No transport is known here: a socket, a
 * simulated link or a test stands behind `ValkeyPeer`.
 */

/** The client's end. None of its methods may call back into the core at once; note it and act later. */
export interface ValkeyPeer {
  /** Bytes for the client, a copy of its own. Called only within `roomBytes()`. */
  receive(bytes: Uint8Array): void;
  /** Returns the number of bytes that the client accepts now. After a 0, the client must call `drained()`. @default no limit */
  roomBytes?(): number;
  /** The engine has read this many of the pushed bytes. */
  consumed?(bytes: number): void;
  /** The engine has closed the connection, or is gone. Called once. */
  closed?(): void;
}

/** The engine's end of a connection, for the code that moves the bytes. The engine reads them when the core is stepped. */
export interface ValkeyConnection {
  /** Bytes from the client. They belong to the connection afterwards. */
  push(bytes: Uint8Array): void;
  /** The client will send no more; it may still read. */
  end(): void;
  /** The client has closed both directions. Later output of the engine is dropped. */
  vanish(): void;
  /** The client has room again after `roomBytes()` was 0. */
  drained(): void;
  /** Bytes pushed and not yet read by the engine. */
  readonly unreadBytes: number;
  /** The engine has closed this connection. */
  readonly isClosed: boolean;
}

/** The object behind a descriptor of the engine. `isHot` means that poll must look at it. */
export interface Endpoint {
  fd: number;
  isHot: boolean;
  readonly isReadable: boolean;
  readonly isWritable: boolean;
}

const noDescriptor = -1;
const shortBytes = 64;

export class Connection implements ValkeyConnection, Endpoint {
  fd = noDescriptor;
  isHot = false;
  unreadBytes = 0;
  isClosed = false;
  readonly #peer: ValkeyPeer;
  readonly #wake: (endpoint: Endpoint) => void;
  #chunks: Uint8Array[] = [];
  #offset = 0;
  #hasEnded = false;
  #isGone = false;

  constructor(peer: ValkeyPeer, wake: (endpoint: Endpoint) => void) {
    this.#peer = peer;
    this.#wake = wake;
  }

  push(bytes: Uint8Array): void {
    if (this.isClosed || this.#hasEnded || bytes.length === 0) return;
    this.#chunks.push(bytes);
    this.unreadBytes += bytes.length;
    this.#wake(this);
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake(this);
  }

  vanish(): void {
    this.#isGone = true;
    this.end();
  }

  drained(): void {
    this.#wake(this);
  }

  get isReadable(): boolean {
    return !this.isClosed && (this.unreadBytes > 0 || this.#hasEnded);
  }

  get isWritable(): boolean {
    return !this.isClosed && this.roomBytes() > 0;
  }

  /** A client that is gone takes everything, so that the engine gets on to reading its end. */
  roomBytes(): number {
    if (this.#isGone || this.#peer.roomBytes === undefined) return Number.POSITIVE_INFINITY;
    return this.#peer.roomBytes();
  }

  /** Copies up to `length` bytes to `target`; null when there is nothing yet, 0 at the end. */
  readInto(target: Uint8Array, at: number, length: number): number | null {
    if (this.unreadBytes === 0) return this.#hasEnded ? 0 : null;
    let copied = 0;
    let used = 0;
    while (copied < length) {
      const chunk = this.#chunks[used];
      if (chunk === undefined) break;
      const left = chunk.length - this.#offset;
      const wanted = length - copied;
      if (left > wanted) {
        target.set(chunk.subarray(this.#offset, this.#offset + wanted), at + copied);
        this.#offset += wanted;
        copied += wanted;
      } else {
        target.set(this.#offset === 0 ? chunk : chunk.subarray(this.#offset), at + copied);
        copied += left;
        this.#offset = 0;
        used += 1;
      }
    }
    if (used === this.#chunks.length) this.#chunks.length = 0;
    else if (used > 0) this.#chunks.splice(0, used);
    this.unreadBytes -= copied;
    this.#peer.consumed?.(copied);
    return copied;
  }

  /** Hands a copy of the bytes to the client and says how many it took. */
  writeFrom(source: Uint8Array, at: number, length: number): number {
    if (this.#isGone) return length;
    const taken = Math.min(length, this.roomBytes());
    if (taken <= 0) return 0;
    this.#peer.receive(copyOf(source, at, taken));
    return taken;
  }

  /** Last words of a client that cannot be served. */
  refuse(reply: Uint8Array): void {
    if (!this.#isGone) this.#peer.receive(reply.slice());
    this.close();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.fd = noDescriptor;
    this.unreadBytes = 0;
    this.#chunks = [];
    this.#peer.closed?.();
  }
}

/** Replies are short as a rule: a slice of a shared pool and a loop beat a buffer and a view each. */
function copyOf(source: Uint8Array, at: number, length: number): Uint8Array {
  const copy = Buffer.allocUnsafe(length);
  if (length <= shortBytes) for (let i = 0; i < length; i++) copy[i] = source[at + i] as number;
  else copy.set(source.subarray(at, at + length));
  return copy;
}
