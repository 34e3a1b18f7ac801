/** Messages as programs read them, without a delivery that they could settle. */

/** A message without a delivery: nobody has to acknowledge it. */
export interface Message<Body = unknown> {
  /** 16 digits, larger with each message of the queue. */
  readonly id: string;
  readonly body: Body;
}

/** A message that used up its attempts. */
export interface DeadLetter<Body = unknown> extends Message<Body> {
  /** Number of its attempts, with the ends of processes that it was charged with where those were its last. */
  readonly attempts: number;
  /** The message of the last error, or what ended the last delivery. */
  readonly reason: string;
  /** When it became one, in ms since 1970 by the server's clock. */
  readonly atMs: number;
}

/** A message that a process has. */
export interface InFlight<Body = unknown> extends Message<Body> {
  /** Number of its attempts, this one with them. */
  readonly attempt: number;
  /** The token of the delivery. */
  readonly token: bigint;
  /** The id of the process that has it. */
  readonly process: string;
  /** Until it is delivered again, unless the process extends it. A delivery is extended while its handler runs. */
  readonly remainingMs: number;
}

/** A message that is not delivered before its time. */
export interface Delayed<Body = unknown> extends Message<Body> {
  /** Number of its attempts until now: 0 unless a failed one was given back with a delay. */
  readonly attempts: number;
  /** 0: its time has come, and it is delivered when somebody asks for a message. */
  readonly dueInMs: number;
}
