/**
 * Replica: a server to which replication brings each PUBLISH of its primary, and nothing else. A process has its messages from there when
 * only its connection for requests has followed a failover, or a name that moved.
 */
import type { ValkeyPeer } from "@holdfast/embedded";
import type { Node } from "./node.js";
import { encode, ReplyReader } from "./resp.js";
import type { Stage } from "./stage.js";

const lagMs = 0.5;
const againMs = 20;

export class Replica implements ValkeyPeer {
  readonly node: Node;
  readonly #stage: Stage;
  readonly #primary: Node;
  #reader = new ReplyReader();

  /** Made by `world.replicaOf(node)`. */
  constructor(stage: Stage, primary: Node, node: Node) {
    this.#stage = stage;
    this.#primary = primary;
    this.node = node;
    this.#follow();
  }

  receive(bytes: Uint8Array): void {
    for (const line of this.#reader.read(bytes)) {
      const [word, ...more] = wordsOf(String(line));
      if (word?.toUpperCase() === "PUBLISH") this.#in(lagMs, () => this.node.peek(word, ...more));
    }
  }

  /** A primary that died or was replaced is followed again. */
  closed(): void {
    this.#in(againMs, () => this.#follow());
  }

  #follow(): void {
    this.#reader = new ReplyReader();
    const connection = this.#primary.accept(this);
    if (!connection) {
      this.closed();
      return;
    }
    connection.push(encode(["MONITOR"]));
    this.#primary.pump();
  }

  #in(delayMs: number, run: () => void): void {
    this.#stage.events.add(this.#stage.nowMs + delayMs, run, { owner: null, kind: "other", quiet: true });
  }
}

const plain: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", a: "\x07", b: "\b" };

/** The words of a line of MONITOR: quoted, with bytes that do not print as \xNN. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, quoted = ""]) => {
    const bytes = quoted.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex: string | undefined, letter: string) =>
      hex === undefined ? (plain[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
    );
    return Buffer.from(bytes, "latin1").toString();
  });
}
