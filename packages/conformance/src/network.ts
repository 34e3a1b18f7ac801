/** The words for what a network does to a connection. */
import type { Socket } from "node:net";

/**
 * - `pass`: bytes go on
 * - `hold`: bytes are kept, in order, and go on when it passes again: a late write
 * - `drop`: bytes are gone, as they are when a connection is about to break: `heal()` breaks connections
 *   that carry commands and have lost bytes, because no TCP stream goes on with a hole
 */
export type Treatment = "pass" | "hold" | "drop";

/** The connection that carries commands, or the one that listens. */
export type Kind = "commands" | "inbox";

export interface Faults {
  /** From the client to the server. */
  up: Treatment;
  /** From the server to the client. */
  down: Treatment;
  /** How much later every byte from the server arrives. */
  downDelayMs: number;
}

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** A socket in the file system, which no network fault reaches. */
export interface SocketFile {
  readonly path: string;
}

/** One client's connection, and the one behind it. */
export interface Link {
  kind: Kind;
  /** Whether more than the greeting of a client went over it. */
  calls: boolean;
  readonly client: Socket;
  readonly server: Socket;
  readonly held: { up: Buffer[]; down: Buffer[] };
  /** From the server and not yet due, the oldest first. */
  readonly delayed: Buffer[];
  torn: boolean;
  stranded: boolean;
}

export type Direction = "up" | "down";
