/**
 * SharedListener: many listeners for one kind of event of a client. The client gets one listener, however
 * many Holdfasts use it, because Node warns of a leak at more than ten.
 */
export class SharedListener {
  readonly #attach: (tell: () => void) => () => void;
  readonly #listeners = new Set<() => void>();
  #detach: (() => void) | null = null;

  /** @param attach makes the client call `tell` at each event, and returns a function that ends this. */
  constructor(attach: (tell: () => void) => () => void) {
    this.#attach = attach;
  }

  /** Returns a function that removes the listener. */
  add(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#detach ??= this.#attach(() => {
      for (const each of this.#listeners) each();
    });
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
      this.#detach?.();
      this.#detach = null;
    };
  }
}
