/** UnderWay: work that has begun and not ended, for whoever has to wait for it. */
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
