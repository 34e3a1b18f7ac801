/** RequestReader: the commands in what a Redis client sends, however the bytes were cut into pieces. */

const CRLF = "\r\n";

export class RequestReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The commands that these bytes complete, each as its words. */
  read(bytes: Buffer): string[][] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const requests: string[][] = [];
    let at = 0;
    for (let next = parse(this.#rest, at); next; next = parse(this.#rest, at)) {
      requests.push(next.words);
      at = next.end;
    }
    this.#rest = this.#rest.subarray(at);
    return requests;
  }
}

function parse(bytes: Buffer, start: number): { words: string[]; end: number } | null {
  const head = line(bytes, start);
  if (!head) return null;
  // Clients write arrays of bulk strings; anything else is one inline command.
  if (!head.text.startsWith("*")) return { words: head.text.split(" "), end: head.end };
  const words: string[] = [];
  let at = head.end;
  for (let left = Number(head.text.slice(1)); left > 0; left--) {
    const size = line(bytes, at);
    if (!size) return null;
    const end = size.end + Number(size.text.slice(1));
    if (bytes.length < end + CRLF.length) return null;
    words.push(bytes.toString("utf8", size.end, end));
    at = end + CRLF.length;
  }
  return { words, end: at };
}

function line(bytes: Buffer, start: number): { text: string; end: number } | null {
  const end = bytes.indexOf(CRLF, start);
  return end === -1 ? null : { text: bytes.toString("latin1", start, end), end: end + CRLF.length };
}
