/**
 * The part of Observable Plot that the pictures use. Its own declarations (0.6.17) need the browser's types and do
 * not hold under `exactOptionalPropertyTypes`; `paths` in tsconfig.json puts these in their place.
 */

interface Scale {
  readonly type?: "log" | "band";
  readonly label?: string | null;
  readonly labelOffset?: number;
  readonly domain?: readonly (number | string)[];
  readonly axis?: null;
  readonly ticks?: number;
  readonly tickFormat?: (value: number) => string;
  readonly tickSize?: number;
  readonly grid?: boolean;
  readonly padding?: number;
}

export interface PlotOptions {
  readonly width?: number;
  readonly height?: number;
  readonly marginTop?: number;
  readonly marginLeft?: number;
  readonly marginRight?: number;
  readonly marginBottom?: number;
  readonly style?: Readonly<Record<string, string>>;
  readonly x?: Scale;
  readonly y?: Scale;
  readonly marks?: readonly Mark[];
  /** The DOM to draw on. */
  readonly document?: unknown;
}

/** Opaque: something to draw. */
export interface Mark {
  readonly plot: unknown;
}

type MarkOptions = Readonly<Record<string, string | number>>;

export function plot(options: PlotOptions): { readonly outerHTML: string };
export function barX(data: readonly object[], options: MarkOptions): Mark;
export function dotX(data: readonly object[], options: MarkOptions): Mark;
export function ruleX(data: readonly number[], options?: MarkOptions): Mark;
export function ruleY(data: readonly object[], options: MarkOptions): Mark;
export function text(data: readonly object[], options: MarkOptions): Mark;
