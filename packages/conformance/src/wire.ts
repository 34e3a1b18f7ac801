/** Wire: the way between one process and its store, as a case sees it and hurts it. */
import type { Direction, Faults, Kind } from "./network.js";
import { within } from "./wait.js";

export interface Wire {
  /** Changes the treatment of bytes from now on, those that are held included. */
  set(faults: Partial<Faults>, kind?: Kind): void;
  /** Ends every fault. What was held arrives. */
  heal(): void;
  /** Breaks the connections, with what is held in them. Clients may connect anew. */
  cut(kind?: Kind): void;
  /** Breaks all connections and takes no new ones until `heal()`. */
  refuse(): void;
  /** Breaks the connections for the client alone: what is held on the way up stays under way until `deliverStranded()`. */
  strand(): void;
  /** Lets what was stranded arrive; resolves when it was read. */
  deliverStranded(): Promise<void>;
  /** Open connections, of the client to one server. */
  readonly connections: number;
  /** Commands that the client sent since the last `forget()`, each as its words, to one server. */
  readonly requests: readonly (readonly string[])[];
  /** Script calls that the client sent since the last `forget()`, to one server. */
  readonly scriptCalls: readonly (readonly string[])[];
  /** Pieces in which the client's bytes came since the last `forget()`, at one server. */
  readonly writes: number;
  /** Starts counting anew. */
  forget(): void;
  /** Pieces of bytes held back now. */
  held(direction: Direction, kind?: Kind): number;
  /** Pieces of bytes dropped since the last `forget()`. */
  dropped(direction: Direction): number;
  /** Resolves when the condition holds; looked at whenever something happens here. */
  when(what: string, condition: () => boolean): Promise<void>;
  /** Resolves when an answer to a call is held back: the call was carried out. */
  whenAnswerHeld(): Promise<void>;
}

/** Resolves when the condition holds; looked at whenever something happens at one of these. */
export function whenMet(
  what: string,
  condition: () => boolean,
  watched: readonly { watch(look: () => void): () => void }[],
): Promise<void> {
  if (condition()) return Promise.resolve();
  let look: () => void = () => {};
  const met = new Promise<void>((resolve) => {
    look = () => void (condition() && resolve());
  });
  const stops = watched.map((each) => each.watch(look));
  return within(met, what).finally(() => {
    for (const stop of stops) stop();
  });
}
