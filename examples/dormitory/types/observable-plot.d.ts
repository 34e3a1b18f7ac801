/**
 * The part of Observable Plot that the pictures use. Its own declarations (0.6.17) need the browser's types and do
 * not hold under `exactOptionalPropertyTypes`; `paths` in tsconfig.json puts these in their place.
 */

interface Scale {
  readonly type?: "log";
  readonly label?: string | null;
  readonly labelOffset?: number;
  readonly domain?: readonly (number | string)[];
  readonly range?: readonly string[];
  readonly axis?: null;
  readonly ticks?: number;
  readonly tickRotate?: number;
  readonly grid?: boolean;
  readonly percent?: boolean;
  readonly padding?: number;
}

export interface PlotOptions {
  readonly width?: number;
  readonly height?: number;
  readonly inset?: number;
  readonly marginTop?: number;
  readonly marginLeft?: number;
  readonly marginRight?: number;
  readonly marginBottom?: number;
  readonly style?: Readonly<Record<string, string>>;
  readonly x?: Scale;
  readonly y?: Scale;
  readonly fy?: Scale;
  readonly color?: Scale;
  readonly marks?: readonly Mark[];
  /** The DOM to draw on. */
  readonly document?: unknown;
}

/** Opaque: something to draw. */
export interface Mark {
  readonly plot: unknown;
}

type MarkOptions = Readonly<Record<string, string | number>>;
type AxisOptions = { readonly [option: string]: string | number | ((value: number) => string) };

export function plot(options: PlotOptions): { readonly outerHTML: string };
export function axisX(values: readonly number[], options: AxisOptions): Mark;
export function ruleX(data: readonly object[], options: MarkOptions): Mark;
export function barY(data: readonly object[], options: MarkOptions): Mark;
export function ruleY(values: readonly number[], options?: MarkOptions): Mark;
export function gridX(values: readonly number[]): Mark;
export function line(data: readonly object[], options: MarkOptions): Mark;
