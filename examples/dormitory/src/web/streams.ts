/** The event streams that are open, so that a server that stops can end them first. */
/** A person has a few tabs. More streams of one are an attack, or a mistake. */
const MOST_FOR_ONE = 6;

export class Streams {
  readonly #open = new Map<AbortController, string>();
  #isEnding = false;

  /**
   * A signal that aborts when the stream is to end: after its time, or because the server stops.
   * @returns null where the owner has enough of them, or the server stops
   */
  open(owner: string, lifeMs: number): { readonly signal: AbortSignal; end(): void } | null {
    const own = [...this.#open.values()].filter((each) => each === owner);
    if (this.#isEnding || own.length >= MOST_FOR_ONE) return null;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), lifeMs);
    this.#open.set(controller, owner);
    const end = (): void => {
      clearTimeout(timer);
      this.#open.delete(controller);
      controller.abort();
    };
    return { signal: controller.signal, end };
  }

  endAll(): void {
    this.#isEnding = true;
    for (const each of this.#open.keys()) each.abort();
  }
}
