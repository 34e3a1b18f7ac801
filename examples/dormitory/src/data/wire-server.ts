/**
 * One PGlite for several processes, over PostgreSQL's own protocol.
 *
 * PGlite is one session for everybody. So the messages of a connection are collected up to a Sync or a Query, and the
 * database stays with that connection until it says that it is idle: for a whole transaction as well.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { PGlite } from "@electric-sql/pglite";

const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;
/** Sync, Query, Flush, CopyDone, CopyFail: the messages that want an answer. */
const WANT_ANSWER = new Set([..."SQHcf"].map((letter) => letter.charCodeAt(0)));
const TERMINATE = "X".charCodeAt(0);
const READY = "Z".charCodeAt(0);
const IDLE = "I".charCodeAt(0);
const READY_BYTES = 6;
/** An open transaction keeps everybody else waiting. After this time without a message its connection is closed. */
const LONGEST_TRANSACTION_MS = 10_000;

export interface WireServer {
  readonly port: number;
  close(): Promise<void>;
}

/** The database belongs to one connection at a time. */
class Turns {
  #tail: Promise<void> = Promise.resolve();
  #owner: object | null = null;
  #release: (() => void) | null = null;

  isWith(who: object): boolean {
    return this.#owner === who;
  }

  async take(who: object): Promise<void> {
    if (this.#owner === who) return;
    const before = this.#tail;
    let free = (): void => {};
    this.#tail = new Promise((resolve) => {
      free = resolve;
    });
    await before;
    this.#owner = who;
    this.#release = free;
  }

  giveUp(): void {
    const release = this.#release;
    this.#owner = null;
    this.#release = null;
    release?.();
  }
}

class Connection {
  readonly #db: PGlite;
  readonly #turns: Turns;
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #isStarted = false;
  #batch: Buffer[] = [];
  #work: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isGone = false;

  constructor(db: PGlite, turns: Turns, socket: Socket) {
    this.#db = db;
    this.#turns = turns;
    this.#socket = socket;
    socket.on("data", (data) => this.#read(data)).on("error", () => {});
    socket.on("close", () => {
      this.#isGone = true;
      clearTimeout(this.#timer);
      this.#work = this.#work.then(() => (turns.isWith(this) ? this.#rollBack() : undefined));
    });
  }

  #read(data: Buffer): void {
    this.#received = this.#received.length > 0 ? Buffer.concat([this.#received, data]) : data;
    while (this.#isStarted ? this.#readMessage() : this.#readStart()) {
      // Each step takes one message.
    }
  }

  #take(length: number): Buffer {
    const message = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return message;
  }

  #readStart(): boolean {
    if (this.#received.length < 8) return false;
    const length = this.#received.readInt32BE(0);
    const code = this.#received.readInt32BE(4);
    if (this.#received.length < length) return false;
    const message = this.#take(length);
    if (code === SSL_REQUEST) this.#socket.write("N");
    else if (code === CANCEL_REQUEST) this.#socket.end();
    else {
      this.#isStarted = true;
      this.#run(message);
    }
    return true;
  }

  #readMessage(): boolean {
    if (this.#received.length < 5) return false;
    const length = 1 + this.#received.readInt32BE(1);
    if (this.#received.length < length) return false;
    const message = this.#take(length);
    const kind = message[0] as number;
    if (kind === TERMINATE) {
      this.#socket.end(); // It must not reach the one session of all.
      return false;
    }
    this.#batch.push(message);
    if (WANT_ANSWER.has(kind)) {
      this.#run(Buffer.concat(this.#batch));
      this.#batch = [];
    }
    return true;
  }

  #run(messages: Buffer): void {
    this.#work = this.#work.then(() => this.#answer(messages));
  }

  async #answer(messages: Buffer): Promise<void> {
    if (this.#isGone) return;
    await this.#turns.take(this);
    clearTimeout(this.#timer);
    if (this.#isGone) return this.#rollBack();
    let end: Buffer = Buffer.alloc(0);
    try {
      await this.#db.runExclusive(() =>
        this.#db.execProtocolRawStream(messages, {
          onRawData: (data) => {
            const answer = Buffer.from(data);
            end = Buffer.concat([end, answer]).subarray(-READY_BYTES);
            if (!this.#isGone) this.#socket.write(answer);
          },
        }),
      );
    } catch (error) {
      this.#socket.destroy(error instanceof Error ? error : undefined);
      return this.#rollBack();
    }
    if (this.#isGone) return this.#rollBack();
    const isIdle = end.length === READY_BYTES && end[0] === READY && end[READY_BYTES - 1] === IDLE;
    if (isIdle) this.#turns.giveUp();
    else this.#timer = setTimeout(() => this.#socket.destroy(), LONGEST_TRANSACTION_MS).unref();
  }

  async #rollBack(): Promise<void> {
    if (this.#db.isInTransaction()) await this.#db.exec("ROLLBACK").catch(() => {});
    this.#turns.giveUp();
  }
}

/** Listens on the loopback only: there is no password. */
export async function serveDatabase(db: PGlite, port: number): Promise<WireServer> {
  const turns = new Turns();
  const sockets = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    new Connection(db, turns, socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
