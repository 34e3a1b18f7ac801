/** A request that ends here, with a status and the word for its reason. The site's error handler writes the answer. */
export type RefusedWord =
  | "missing"
  | "forbidden"
  | "notStudent"
  | "forged"
  | "tooLarge"
  | "unsupported"
  | "invalid"
  | "signIn";

export class Refused extends Error {
  override readonly name = "Refused";
  readonly status: 400 | 401 | 403 | 404 | 413 | 415;
  readonly word: RefusedWord;

  constructor(status: Refused["status"], word: RefusedWord) {
    super(`refused: ${word}`);
    this.status = status;
    this.word = word;
  }
}
