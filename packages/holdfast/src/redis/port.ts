/**
 * The port over a client. It is narrow on purpose: a script, a raw command, a subscription, close.
 *
 * Every call settles within its own limit, whatever the client does: some clients never settle, some
 * resend, some run a call from an offline queue after its caller gave up. So every script must bear
 * being run twice, and a call that ran out of time rejects with IndeterminateError.
 */
import type { Script } from "./script.js";

/** What Lua can return, the same in RESP2 and RESP3. */
export type Reply = string | number | null | Reply[];

export interface Inbound {
  message(text: string): void;
  /** The subscription stands, at first and after every reconnect: what came in between is lost. */
  up(): void;
  /** The subscription is gone until the next `up`; with an error that the server refused it for, or null. */
  down(refusal: Error | null): void;
}

export interface Subscription {
  /** Whether the connection still answers, within the limit. */
  answers(timeoutMs: number): Promise<boolean>;
  close(): void;
}

export interface RedisPort {
  /** Why Redis cannot be reached just now, as far as the client knows; null: it is connected, or does not say. */
  readonly trouble: string | null;
  /** How often the connection broke: a call under way at that moment may have been carried out twice. */
  readonly disruptions: number;
  /** Runs a script atomically. @throws {ServerError} not carried out. @throws {IndeterminateError} unknown. */
  script(script: Script, keys: readonly string[], args: readonly string[], timeoutMs: number): Promise<Reply>;
  /** One raw command. Errors as for `script`. */
  command(args: readonly string[], timeoutMs: number): Promise<Reply>;
  /** Listens to one channel on a connection of its own. Never throws; reports through `inbound`. */
  subscribe(channel: string, inbound: Inbound): Subscription;
  /** Ends what the port itself opened; a client that the user passed in stays open. */
  close(): Promise<void>;
}
