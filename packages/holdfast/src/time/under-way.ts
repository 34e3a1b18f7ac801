/** UnderWay: the promises of work that has begun and not ended. Whoever closes waits for them. */
export class UnderWay {
  readonly #work = new Set<Promise<void>>();

  /** @param work never rejects */
  add(work: Promise<void>): void {
    this.#work.add(work);
    void work.then(() => this.#work.delete(work));
  }

  /** Resolves when all that is under way now has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#work);
  }
}
