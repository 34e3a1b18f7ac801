/**
 * A wait for one or several signals: for any of them, or for all. It ends by what it hears, by its time, its AbortSignal or
 * `hf.close()`. By its time it first leaves its seats, so that it gets a signal that was handed to it just then. Once it is aborted, such a
 * signal is passed on.
 */
import { type HoldfastError, isLasting, UnavailableError } from "../errors.js";
import { awayOf } from "../redis/port.js";
import { callerContext } from "../telemetry/events.js";
import { Pending, type WaitSettings } from "../time/pending.js";
import type { Copies, Heard, Topic } from "./ears.js";
import { type Hearing, type TopicHearer, tellWaiting } from "./hearing.js";
import type { Place } from "./seats.js";

/** One signal of the wait. */
interface Part {
  readonly topic: Topic;
  place: Place | null;
  isAnswered: boolean;
  isSeated: boolean;
  heard: Heard | null;
}

/** Resolves to what was heard: one signal for "any", one for each topic in their order for "all". Null: the time is over. */
export function waitFor(
  hearing: Hearing,
  topics: readonly Topic[],
  how: "any" | "all",
  settings: WaitSettings,
): Promise<readonly Heard[] | null> {
  hearing.assertOpen();
  if (settings.signal?.aborted) return Promise.reject(settings.signal.reason);
  const away = awayOf(hearing.context.port);
  if (away) return Promise.reject(away);
  if (settings.waitMs === 0) return Promise.resolve(null);
  return new SignalWait(hearing, topics, how, settings).promise;
}

class SignalWait {
  readonly #hearing: Hearing;
  readonly #pending: Pending<readonly Heard[] | null>;
  readonly #how: "any" | "all";
  readonly #settings: WaitSettings;
  readonly #parts: readonly Part[];
  readonly #context = callerContext("holdfast:signal:waiting");
  #trouble: HoldfastError | null = null;

  constructor(hearing: Hearing, topics: readonly Topic[], how: "any" | "all", settings: WaitSettings) {
    this.#hearing = hearing;
    this.#how = how;
    this.#settings = settings;
    this.#parts = topics.map((topic) => ({
      topic,
      place: null,
      isAnswered: false,
      isSeated: false,
      heard: null,
    }));
    const unregister = hearing.register({
      withdraw: () => this.#withdraw(),
      end: (error) => this.#pending.reject(error),
    });
    this.#pending = new Pending<readonly Heard[] | null>(hearing.context.schedule, {
      ...settings,
      onTimeout: () => void this.#withdraw().then(() => this.#timeOut()),
      onEnd: () => {
        unregister();
        for (const { place } of this.#parts) place?.leave();
      },
    });
    for (const part of this.#parts) part.place = hearing.join(part.topic, this.#hearerOf(part));
  }

  get promise(): Promise<readonly Heard[] | null> {
    return this.#pending.promise;
  }

  #hearerOf(part: Part): TopicHearer {
    return {
      kind: "wait",
      hasRoom: false,
      answered: () => {
        part.isAnswered = true;
      },
      seated: () => {
        if (part.isSeated) return;
        part.isSeated = true;
        if (this.#parts.every(({ isSeated }) => isSeated))
          tellWaiting(
            this.#parts.map(({ topic }) => topic),
            this.#context,
          );
      },
      heard: (copies) => void this.#hear(part, copies),
      take: (copies) => this.#hear(part, copies),
      troubled: (error) => {
        // A question that was not sent says nothing of the one before it.
        if (!(error instanceof UnavailableError)) this.#trouble = error;
        if (isLasting(error)) this.#pending.reject(error);
      },
    };
  }

  #hear(part: Part, copies: Copies): boolean {
    if (this.#pending.isOver || part.heard) return false;
    part.heard = copies();
    part.isAnswered = true;
    if (this.#how === "any") {
      this.#pending.resolve([part.heard]);
      return true;
    }
    part.place?.leave();
    const heard = this.#parts.map((each) => each.heard).filter((each) => each !== null);
    if (heard.length === this.#parts.length) this.#pending.resolve(heard);
    return true;
  }

  async #withdraw(): Promise<void> {
    await Promise.all(this.#parts.map(({ place }) => place?.withdraw()));
  }

  #timeOut(): void {
    const absent = this.#parts.find(({ isAnswered }) => !isAnswered);
    if (!absent) this.#pending.resolve(null);
    else
      this.#pending.reject(this.#trouble ?? this.#hearing.notConfirmed(absent.topic, this.#settings.waitMs));
  }
}
