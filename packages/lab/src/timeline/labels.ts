/** The room that labels take in a drawing, so that no two of them overlap: who comes first has it. */
import { widthOf } from "./grid.js";

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export class Labels {
  readonly #taken: Box[] = [];

  /** Whether it was free; then it is taken. */
  take(box: Box): boolean {
    const isFree = this.#taken.every((other) => !overlap(box, other));
    if (isFree) this.#taken.push(box);
    return isFree;
  }
}

/** A label around `x`, on the line `y`. */
export function boxOf(label: string, x: number, y: number, size: number): Box {
  const width = widthOf(label, size);
  return { x: x - width / 2, y: y - size, width, height: size * 1.25 };
}

function overlap(a: Box, b: Box): boolean {
  const isBeside = a.x + a.width <= b.x || b.x + b.width <= a.x;
  return !isBeside && a.y < b.y + b.height && b.y < a.y + a.height;
}
