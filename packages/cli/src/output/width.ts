/** How wide text is on a terminal, and text cut or filled up to a width. Apart, because it takes a while to load. */
import stringWidth from "string-width";

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
