/** The protocol of Redis, version 2: commands into bytes, bytes into replies. */

export type Reply = string | number | null | ReplyError | Reply[];

/** An error that the server answered. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
}

export function encode(words: readonly string[]): Buffer {
  let text = `*${words.length}\r\n`;
  for (const word of words) text += `$${Buffer.byteLength(word)}\r\n${word}\r\n`;
  return Buffer.from(text);
}

const CR = 13;
const nothing = Buffer.alloc(0);

/** Cuts what comes in into replies. */
export class ReplyReader {
  #bytes: Buffer = nothing;
  #at = 0;

  read(chunk: Uint8Array): Reply[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
    const replies: Reply[] = [];
    let rest = 0;
    for (;;) {
      this.#at = rest;
      const reply = this.#reply();
      if (reply === undefined) break;
      replies.push(reply);
      rest = this.#at;
    }
    this.#bytes = rest === this.#bytes.length ? nothing : this.#bytes.subarray(rest);
    return replies;
  }

  /** undefined: more has to come in. */
  #reply(): Reply | undefined {
    const kind = this.#bytes[this.#at];
    const line = this.#line();
    if (line === undefined) return undefined;
    switch (kind) {
      case 43: // +
        return line;
      case 45: // -
        return new ReplyError(line);
      case 58: // :
        return Number(line);
      case 36: // $
        return this.#bulk(Number(line));
      default: // *
        return this.#array(Number(line));
    }
  }

  #line(): string | undefined {
    const end = this.#bytes.indexOf(CR, this.#at);
    if (end < 0 || end + 2 > this.#bytes.length) return undefined;
    const line = this.#bytes.toString("latin1", this.#at + 1, end);
    this.#at = end + 2;
    return line;
  }

  #bulk(length: number): string | null | undefined {
    if (length < 0) return null;
    const end = this.#at + length;
    if (end + 2 > this.#bytes.length) return undefined;
    const text = this.#bytes.toString("utf8", this.#at, end);
    this.#at = end + 2;
    return text;
  }

  #array(length: number): Reply[] | null | undefined {
    if (length < 0) return null;
    const items: Reply[] = [];
    for (let i = 0; i < length; i++) {
      const item = this.#reply();
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items;
  }
}

/** The commands in a client's bytes, each with its first word; what is no whole command is left as it is. */
export function* commandsIn(bytes: Buffer): Generator<{ readonly word: string; readonly bytes: Buffer }> {
  let at = 0;
  while (bytes[at] === 42) {
    const start = at;
    let end = bytes.indexOf(CR, at);
    const count = Number(bytes.toString("latin1", at + 1, end));
    at = end + 2;
    let word = "";
    for (let i = 0; i < count; i++) {
      end = bytes.indexOf(CR, at);
      if (end < 0) break;
      const length = Number(bytes.toString("latin1", at + 1, end));
      if (i === 0) word = bytes.toString("latin1", end + 2, end + 2 + length).toUpperCase();
      at = end + 2 + length + 2;
    }
    if (end < 0 || at > bytes.length) {
      yield { word: "", bytes: bytes.subarray(start) };
      return;
    }
    yield { word, bytes: bytes.subarray(start, at) };
  }
  if (at < bytes.length) yield { word: "", bytes: bytes.subarray(at) };
}
