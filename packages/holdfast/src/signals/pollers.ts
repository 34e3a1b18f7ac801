/** Pollers: what `poll` listens to, once for each name in this process, so that a poll by another object finds what came. */
import type { Heard, Topic } from "./ears.js";
import type { Hearing } from "./hearing.js";
import { SignalListener } from "./listener.js";

export class Pollers {
  readonly #hearing: Hearing;
  readonly #byName = new Map<string, SignalListener>();

  constructor(hearing: Hearing) {
    this.#hearing = hearing;
  }

  async poll(topic: Topic, buffer: number): Promise<Heard | null> {
    const listener = this.#byName.get(topic.text) ?? this.#begin(topic, buffer);
    const kept = listener.take();
    if (kept) return kept;
    try {
      await listener.begun();
    } catch (error) {
      // A later poll begins again, where the server may allow it by then.
      if (listener.isOver && this.#byName.get(topic.text) === listener) this.stop(topic.text);
      throw error;
    }
    const { schedule } = this.#hearing.context;
    // A loop over polls must leave the event loop time to receive a signal.
    await new Promise<void>((resolve) => schedule.after(0, resolve));
    return listener.take();
  }

  stop(name: string): void {
    const listener = this.#byName.get(name);
    this.#byName.delete(name);
    void listener?.return();
  }

  #begin(topic: Topic, buffer: number): SignalListener {
    const listener = new SignalListener(this.#hearing, topic, "poller", { buffer, signal: undefined });
    this.#byName.set(topic.text, listener);
    return listener;
  }
}
