/** Text that others wrote, made fit for a terminal: no control characters, no wider than there is room. */
import stringWidth from "string-width";

/** Names and labels are anybody's: an escape sequence in one must not reach the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}|\p{Cf}|[\u2028\u2029]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
  });
}

export function widthOf(text: string): number {
  return stringWidth(text);
}

/** Cut at the end, with an ellipsis, if it is wider than `width`. Plain text only. */
export function clipped(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (widthOf(kept + segment) > width - 1) break;
    kept += segment;
  }
  return width > 0 ? `${kept}…` : "";
}

export function padded(text: string, width: number, align: "left" | "right"): string {
  const blanks = " ".repeat(Math.max(width - widthOf(text), 0));
  return align === "left" ? text + blanks : blanks + text;
}
