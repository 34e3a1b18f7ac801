/** How wide text is on a terminal, and text cut or filled up to a width. */

/** One column each; the ellipsis is what `clipped` adds. */
const PLAIN = /^[\x20-\x7e…]*$/;

export class Ruler {
  readonly #widthOfAny: (text: string) => number;

  /** @param widthOfAny returns the width of text that is not plain. */
  constructor(widthOfAny: (text: string) => number) {
    this.#widthOfAny = widthOfAny;
  }

  widthOf(text: string): number {
    return PLAIN.test(text) ? text.length : this.#widthOfAny(text);
  }

  /** Cut at the end, with an ellipsis, if it is wider than `width`. Without colours. */
  clipped(text: string, width: number): string {
    if (this.widthOf(text) <= width) return text;
    if (width <= 0) return "";
    if (PLAIN.test(text)) return `${text.slice(0, width - 1)}…`;
    let kept = "";
    for (const { segment } of new Intl.Segmenter().segment(text)) {
      if (this.widthOf(kept + segment) > width - 1) break;
      kept += segment;
    }
    return `${kept}…`;
  }

  padded(text: string, width: number, align: "left" | "right"): string {
    const blanks = " ".repeat(Math.max(width - this.widthOf(text), 0));
    return align === "left" ? text + blanks : blanks + text;
  }
}

/** For `text`, and whatever is made of its characters: the tables for all others take longer to load than a look. */
export async function rulerFor(text: string): Promise<Ruler> {
  if (/^[\n\x20-\x7e]*$/.test(text)) return new Ruler((plain) => plain.length);
  return new Ruler((await import("string-width")).default);
}
