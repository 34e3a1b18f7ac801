/** Redis or PostgreSQL did not answer. A page says so, and says whether the request may have been carried out. */

export class Unreachable extends Error {
  override readonly name = "Unreachable";
  /**
   * - `nothing`: the request changed nothing
   * - `unknown`: nobody knows yet whether it did. To ask again is harmless.
   */
  readonly happened: "nothing" | "unknown";

  constructor(happened: "nothing" | "unknown", cause: unknown) {
    super(
      happened === "nothing" ? "the store did not answer; nothing was changed" : "the store did not answer",
      { cause },
    );
    this.happened = happened;
  }
}
