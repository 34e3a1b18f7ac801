/**
 * The port over a client. It is narrow on purpose: a script, a raw command, a connection for messages, close.
 *
 * Every call settles within its own time-out, whatever the client does: some clients never settle, some
 * resend, some run a call from an offline queue after its caller gave up. So every script must allow
 * to be run twice, and a call that timed out rejects with IndeterminateError. While the client is not connected, calls
 * wait here and not in the client, so that a call that was not sent rejects with UnavailableError.
 *
 * A port remembers which scripts the server knows. One that reaches several servers (a cluster) will have to
 * remember it for each of them, because NOSCRIPT of one says nothing about the others.
 */
import type { HoldfastError, UnavailableError } from "../errors.js";
import type { Script } from "./script.js";

/** A value that Lua can return, the same in RESP2 and RESP3. */
export type Reply = string | number | null | Reply[];

/** The target of a subscription: one channel, or all channels whose names match a pattern. */
export interface Topic {
  readonly kind: "channel" | "pattern";
  readonly name: string;
}

/** Receives the events of one connection for messages. */
export interface MessageListener {
  /** The connection is up, at first and after each break. The listener must subscribe to each topic (again). */
  connected(): void;
  /** The connection broke. Null: the client makes another. An error: it does not, this connection is over. */
  disconnected(error: Error | null): void;
  /** The connection broke, the client has made another, and messages may be lost for good: only a new one hears all again. */
  outdated(): void;
  message(topic: Topic, text: string, channel: string): void;
}

/** One connection for messages. */
export interface MessageConnection {
  /**
   * Resolves once the server has confirmed it. May be repeated.
   * @throws {ServerError} the server refused it. @throws {IndeterminateError} the connection broke
   */
  subscribe(topic: Topic): Promise<void>;
  /** Errors as for `subscribe`. */
  unsubscribe(topic: Topic): Promise<void>;
  /** Whether the connection still answers, within the time-out. @param topic one that is subscribed; null: there is none */
  answers(topic: Topic | null, timeoutMs: number): Promise<boolean>;
  close(): void;
}

/** Hears what became of one call, once, and never before the call returns. */
export interface ReplyListener {
  replied(reply: Reply): void;
  /** Errors as `script` throws them. */
  failed(error: HoldfastError): void;
}

export interface RedisPort {
  /** Why Redis cannot be reached just now, as far as the client knows; null: it is connected, or does not say. */
  readonly trouble: string | null;
  /** Whether the client rejects every call at once, because nobody has connected it, or because it was closed. */
  readonly rejectsCalls?: boolean;
  /** The error for a call that ends now and was not sent; null: the client is connected, or does not say. */
  unavailable(): UnavailableError | null;
  /** How often calls were handed to the client. No call that was made since a number was read was sent while it is the same. */
  readonly writes: number;
  /** Number of breaks of the connection. A call under way during a break may have been carried out twice. */
  readonly disruptions: number;
  /** Whether `disruptions` counts every break. A client that does not report them never sends a call again. */
  readonly reportsBreaks: boolean;
  /**
   * Whether a PUBLISH that reached nobody proves that nobody listens. True on a single server. In a cluster the server
   * that runs a script counts its own listeners only.
   */
  readonly zeroListenersMeansGone: boolean;
  /** The slot of a key: 0 on a server that has not said that it is part of a cluster. All keys of one call must have the same. */
  slotOf(key: string): number;
  /**
   * Runs a script atomically.
   * @throws {ServerError} not carried out. @throws {UnavailableError} not sent. @throws {IndeterminateError} unknown.
   */
  script(script: Script, keys: readonly string[], args: readonly string[], timeoutMs: number): Promise<Reply>;
  /**
   * The same without a promise, for the batch of one turn of the event loop: sent at once where nothing is under way.
   * @param words the number of keys, the keys, and the arguments
   */
  ask(script: Script, words: readonly string[], timeoutMs: number, listener: ReplyListener): void;
  /** One raw command. Its first key, where it has one, is its second word. Errors as for `script`. */
  command(args: readonly string[], timeoutMs: number): Promise<Reply>;
  /** Has a client connect that does so only when a call is sent. Nothing happens with any other client, or one that rejects its calls. */
  connect?(): void;
  /** Calls back whenever a call had no answer within its time-out. */
  onUnanswered?(listener: () => void): void;
  /**
   * Calls back when the client is closed, or gives up: it rejects every call from now on.
   * @param listener with a function that makes the error for each wait that ends
   */
  onClosed?(listener: (error: () => UnavailableError) => void): void;
  /** Opens a connection for messages. Never throws; reports to `listener`. */
  openMessages(listener: MessageListener): MessageConnection;
  /** Ends what the port itself opened; a client that the user passed in stays open. */
  close(): Promise<void>;
}

/** The error for a wait that would begin now, and get no answer before this program acts; null: it may begin. */
export function awayOf(port: Pick<RedisPort, "rejectsCalls" | "unavailable">): UnavailableError | null {
  return port.rejectsCalls ? port.unavailable() : null;
}

/** The error for a wait that ends now, if nothing was sent since `writes` was read; null: something was, or nobody can tell. */
export function nothingSentSince(
  port: Pick<RedisPort, "writes" | "unavailable">,
  writes: number,
): UnavailableError | null {
  return port.writes === writes ? port.unavailable() : null;
}
