/**
 * WatchedStates: states in Redis that callers of this process wait for. All listeners of one key share one subscription and one
 * reading.
 *
 * No change is missed: a state is read after the subscription is confirmed, and again after every break. A message carries the
 * new state and names the place where it is, or causes a reading. A listener gets nothing from before it came: its first state is
 * one that was read since.
 */
import { ClosedError, type HoldfastError, isLasting } from "../errors.js";
import type { Stream } from "../stream.js";
import type { WaitSettings } from "../time/pending.js";
import type { Schedule } from "../time/schedule.js";
import { readMessage } from "./message.js";
import type { Place } from "./place.js";
import { awayOf, type RedisPort } from "./port.js";
import { StateWaits } from "./state-waits.js";
import type { Watch, Watcher } from "./watcher.js";

export interface StateSource<State> {
  readonly channel: string;
  /** Reads the present state. @throws {HoldfastError} */
  read(): Promise<State>;
  /** How to read the messages that carry a state. Absent: a message only says that something changed. */
  readonly told?: ToldStates<State> | undefined;
  /** When the state may change without a message, in ms from now; null: it cannot. */
  changesInMs?(state: State): number | null;
}

export interface ToldStates<State> {
  /** The state in a message; null: it must be read. */
  parse(text: string): State | null;
  /** Whether the state in a message is later than the one that is known. */
  isLater(state: State, known: State): boolean;
}

/** Of two states the one with the higher version is later. Versions as text have the same number of digits. */
export function toldByVersion<State extends { readonly version: bigint | string }>(
  parse: ToldStates<State>["parse"],
): ToldStates<State> {
  return { parse, isLater: (state, known) => state.version > known.version };
}

export interface StateListener<State> {
  /** Called with the first state, and then with each that was read or told, also when nothing changed. */
  state(state: State): void;
  /** A reading failed. The next one follows. */
  troubled(error: HoldfastError): void;
}

interface Listening<State> {
  readonly listener: StateListener<State>;
  /** The listener has a state that was read after it came. */
  isCurrent: boolean;
}

interface Shared<State> {
  readonly source: StateSource<State>;
  readonly listening: Set<Listening<State>>;
  watch: Watch | null;
  readonly stopPlace: () => void;
  /** The newest state; null before the first. */
  known: { readonly state: State } | null;
  /** Rises when a message came, so that a reading knows that one overtook it. */
  messages: number;
  /** A reading is under way. */
  isReading: boolean;
  /** Another one must follow it. */
  readAgain: boolean;
}

export interface WatchedStatesParts {
  readonly watcher: Watcher;
  readonly schedule: Schedule;
  readonly place: Pick<Place, "isHere" | "listen">;
  readonly port: Pick<RedisPort, "rejectsCalls" | "unavailable" | "onClosed">;
}

/** Soon enough that a read which failed for a moment does not cost a whole interval. */
const RETRY_MS = 200;

export class WatchedStates<State> {
  readonly #watcher: Watcher;
  readonly #place: WatchedStatesParts["place"];
  readonly #port: WatchedStatesParts["port"];
  readonly #shared = new Map<string, Shared<State>>();
  readonly #waits: StateWaits;

  constructor({ watcher, schedule, place, port }: WatchedStatesParts) {
    this.#watcher = watcher;
    this.#place = place;
    this.#port = port;
    this.#waits = new StateWaits(schedule, port, closedError);
  }

  /**
   * Waits until `select` finds a value in the state. Resolves to null when the time is over, or when `waitMs` is 0 and the first
   * reading has none.
   * @throws {HoldfastError} the state is unknown at the end of that time, or the server refuses in a way that will not pass
   * @throws {ClosedError} @throws the signal's reason
   */
  until<Value>(
    source: StateSource<State>,
    select: (state: State) => { readonly value: Value } | null,
    settings: WaitSettings,
  ): Promise<Value | null> {
    return this.#waits.one(settings, (wait) => {
      let stop = (): void => {};
      const listener: StateListener<State> = {
        state: (state) => wait.known(select(state)),
        troubled: (error) => wait.troubled(error),
      };
      // What is there already costs one request, and no subscription.
      const listen = (): void => {
        if (!wait.isOver) stop = this.listen(source, listener);
      };
      source.read().then(
        (state) => {
          listener.state(state);
          listen();
        },
        (error: HoldfastError) => {
          listener.troubled(error);
          listen();
        },
      );
      return { look: () => this.#look(source.channel), stop: () => stop() };
    });
  }

  /** The present state, and then each newer one. A reader that is slow gets the newest only. */
  stream<Value>(
    source: StateSource<State>,
    toValue: (state: State) => Value,
    isSame: (a: State, b: State) => boolean,
    signal?: AbortSignal,
  ): Stream<Value> {
    return this.#waits.stream(signal, (stream) => {
      const away = awayOf(this.#port);
      if (away) {
        stream.fail(away);
        return () => {};
      }
      let last: { readonly state: State } | null = null;
      return this.listen(source, {
        state: (state) => {
          if (last && isSame(last.state, state)) return;
          last = { state };
          stream.push(toValue(state));
        },
        troubled: (error) => {
          if (isLasting(error)) stream.fail(error);
        },
      });
    });
  }

  /** Ends every wait and every stream. */
  close(): void {
    this.#waits.close();
  }

  /** Begins to listen. Returns a function that ends it. */
  listen(source: StateSource<State>, listener: StateListener<State>): () => void {
    const key = source.channel;
    const shared = this.#shared.get(key) ?? this.#open(key, source);
    const one: Listening<State> = { listener, isCurrent: false };
    shared.listening.add(one);
    // The first reading begins when the subscription is up. Whoever joins later begins one of its own.
    if (shared.watch?.up) this.#read(shared);
    return () => {
      if (!shared.listening.delete(one) || shared.listening.size > 0) return;
      shared.watch?.close();
      shared.stopPlace();
      this.#shared.delete(key);
    };
  }

  #open(key: string, source: StateSource<State>): Shared<State> {
    const shared: Shared<State> = {
      source,
      listening: new Set(),
      watch: null,
      stopPlace: source.told ? this.#place.listen() : () => {},
      known: null,
      messages: 0,
      isReading: false,
      readAgain: false,
    };
    this.#shared.set(key, shared);
    shared.watch = this.#watcher.watch(key, {
      message: (text) => this.#message(shared, text),
      look: () => this.#read(shared),
    });
    return shared;
  }

  /** The answer to a reading that is under way comes sooner than that to another one. */
  #look(channel: string): void {
    const shared = this.#shared.get(channel);
    if (shared && !shared.isReading) this.#read(shared);
  }

  #message(shared: Shared<State>, message: string): void {
    const { told } = shared.source;
    const read = told ? readMessage(message) : null;
    const state = told && read && this.#place.isHere(read.place) ? told.parse(read.text) : null;
    if (!told || state === null || !shared.known) {
      this.#read(shared);
      return;
    }
    shared.messages += 1;
    if (told.isLater(state, shared.known.state)) this.#tell(shared, state);
  }

  #read(shared: Shared<State>): void {
    if (shared.isReading) {
      shared.readAgain = true;
      return;
    }
    void this.#readOnce(shared);
  }

  async #readOnce(shared: Shared<State>): Promise<void> {
    shared.isReading = true;
    const { messages, source } = shared;
    const waiting = [...shared.listening];
    try {
      const state = await source.read();
      for (const one of waiting) one.isCurrent = true;
      // A message that came meanwhile may be later than what was read before it.
      const later = shared.messages > messages ? shared.known : null;
      this.#tell(shared, later && source.told?.isLater(later.state, state) ? later.state : state);
    } catch (error) {
      shared.watch?.lookIn(RETRY_MS);
      for (const { listener } of [...shared.listening]) listener.troubled(error as HoldfastError);
    } finally {
      shared.isReading = false;
      if (shared.readAgain && shared.listening.size > 0) {
        shared.readAgain = false;
        this.#read(shared);
      }
    }
  }

  #tell(shared: Shared<State>, state: State): void {
    shared.known = { state };
    for (const one of [...shared.listening]) {
      if (one.isCurrent && shared.listening.has(one)) one.listener.state(state);
    }
    const inMs = shared.source.changesInMs?.(state) ?? null;
    if (inMs !== null) shared.watch?.lookIn(inMs);
  }
}

function closedError(): ClosedError {
  return new ClosedError("hf.close() came before the wait was over");
}
