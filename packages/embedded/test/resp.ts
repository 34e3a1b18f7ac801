/** A RESP client at the level of bytes, for a core without sockets and for TCP. */
import { connect as connectTcp, type Socket } from "node:net";
import type { ValkeyConnection, ValkeyCore, ValkeyPeer } from "@holdfast/embedded";

export type Reply = string | number | null | Error | Reply[];

export function encode(...words: (string | number | Uint8Array)[]): Buffer {
  const parts: Uint8Array[] = [Buffer.from(`*${words.length}\r\n`)];
  for (const word of words) {
    const bytes = word instanceof Uint8Array ? word : Buffer.from(String(word));
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from("\r\n"));
  }
  return Buffer.concat(parts);
}

/** Collects bytes and cuts them into replies. */
class ReplyParser {
  #text = "";

  push(bytes: Uint8Array): Reply[] {
    this.#text += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
    const replies: Reply[] = [];
    for (;;) {
      const read = readReply(this.#text, 0);
      if (read === null) return replies;
      replies.push(read.reply);
      this.#text = this.#text.slice(read.next);
    }
  }
}

function readReply(text: string, start: number): { reply: Reply; next: number } | null {
  const end = text.indexOf("\r\n", start);
  if (end < 0) return null;
  const line = text.slice(start + 1, end);
  const next = end + 2;
  switch (text[start]) {
    case "+":
      return { reply: line, next };
    case "-":
      return { reply: new Error(line), next };
    case ":":
      return { reply: Number(line), next };
    case "$": {
      const length = Number(line);
      if (length < 0) return { reply: null, next };
      return text.length < next + length + 2
        ? null
        : { reply: text.slice(next, next + length), next: next + length + 2 };
    }
    case "*": {
      if (Number(line) < 0) return { reply: null, next };
      const items: Reply[] = [];
      let at = next;
      for (let i = 0; i < Number(line); i++) {
        const item = readReply(text, at);
        if (item === null) return null;
        items.push(item.reply);
        at = item.next;
      }
      return { reply: items, next: at };
    }
    default:
      throw new Error(`not a reply: ${text.slice(start, start + 40)}`);
  }
}

/** A client of a core. Everything happens inside the call that causes it. */
export class CoreClient implements ValkeyPeer {
  readonly replies: Reply[] = [];
  readonly connection: ValkeyConnection;
  isClosed = false;
  receivedBytes = 0;
  roomLimit = Number.POSITIVE_INFINITY;
  onReceive: (bytes: Uint8Array) => void = () => {};
  readonly #core: Pick<ValkeyCore, "connect"> & { pump(): unknown };
  readonly #parser = new ReplyParser();

  constructor(core: Pick<ValkeyCore, "connect"> & { pump(): unknown }) {
    this.#core = core;
    this.connection = core.connect(this);
  }

  receive(bytes: Uint8Array): void {
    this.receivedBytes += bytes.length;
    this.roomLimit -= bytes.length;
    this.onReceive(bytes);
    this.replies.push(...this.#parser.push(bytes));
  }

  roomBytes(): number {
    return this.roomLimit;
  }

  closed(): void {
    this.isClosed = true;
  }

  send(...words: (string | number | Uint8Array)[]): void {
    this.connection.push(encode(...words));
  }

  /** Sends, pumps, and returns the reply; undefined when there is none yet. */
  call(...words: (string | number | Uint8Array)[]): Reply | undefined {
    this.send(...words);
    this.#core.pump();
    return this.replies.shift();
  }
}

/** A client over TCP. Replies resolve calls in order. */
export class TcpClient {
  readonly socket: Socket;
  readonly #parser = new ReplyParser();
  readonly #waiting: ((reply: Reply) => void)[] = [];
  readonly closed: Promise<void>;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (bytes) => {
      for (const reply of this.#parser.push(bytes)) this.#waiting.shift()?.(reply);
    });
    socket.on("error", () => {});
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
  }

  static open(port: number): Promise<TcpClient> {
    return new Promise((resolve, reject) => {
      const socket = connectTcp({ port, host: "127.0.0.1", noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => resolve(new TcpClient(socket)));
    });
  }

  call(...words: (string | number | Uint8Array)[]): Promise<Reply> {
    this.socket.write(encode(...words));
    return this.next();
  }

  next(): Promise<Reply> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  async close(): Promise<void> {
    this.socket.destroy();
    await this.closed;
  }
}
