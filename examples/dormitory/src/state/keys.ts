/** The keys in Redis. All of one batch are in one slot of a cluster. */

export type BatchPart =
  /** Hash: name, startsAtMs, endsAtMs, way, archived, version. */
  | "meta"
  /** Hash: room id -> JSON of { building, name, beds }. */
  | "rooms"
  /** Hash: student id -> name. */
  | "people"
  /** Hash: student id -> team id. */
  | "team-of"
  /** Hash: team id -> JSON of { members, version }. */
  | "teams"
  /** Hash: invitation id -> JSON. Only those that wait for an answer. */
  | "invitations"
  /** Hash: student id -> "room:bed". */
  | "choices"
  /** Hash: "room:bed" -> student id. */
  | "beds"
  /** Hash: room id -> beds that nobody has. It only saves reading all beds. */
  | "free"
  /** Hash: team id -> JSON of the newest outcome. */
  | "outcomes"
  /** Hash: team id -> JSON of a list of the newest outcomes, each as JSON: a request that is repeated is known by them. */
  | "recent"
  /** Hash: team id -> JSON of { ticket, requestId, action }: the newest request in the lane. */
  | "tickets"
  /** Hash: a lock's name -> the newest fence that wrote under it, and its holder. */
  | "fences"
  /** Sorted set: room id by the requests that passed it over. */
  | "contested"
  /** Hash: done, refused, regretted, retries. */
  | "counts"
  /** Stream: every decision. */
  | "log";

export class Keys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Set: the ids of all batches. */
  get batches(): string {
    return `${this.#prefix}:batches`;
  }

  /** Hash: student number -> JSON of { name, role, batchId }. */
  get directory(): string {
    return `${this.#prefix}:directory`;
  }

  /** Hash: order id -> JSON of an administrator's order to the archive job. */
  get archiveOrders(): string {
    return `${this.#prefix}:archive:orders`;
  }

  /** JSON of what the archive job did with an order; expires. */
  archiveReport(orderId: string): string {
    return `${this.#prefix}:archive:report:${orderId}`;
  }

  of(batchId: string, part: BatchPart): string {
    return `${this.#prefix}:{${batchId}}:${part}`;
  }

  parts(batchId: string, parts: readonly BatchPart[]): string[] {
    return parts.map((part) => this.of(batchId, part));
  }
}
