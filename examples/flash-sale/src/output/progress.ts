/** What is to be seen while the sale runs: bars on a terminal, nothing otherwise. Always on stderr. */
import { MultiBar, type SingleBar } from "cli-progress";
import colors from "picocolors";
import type { VariantResult } from "../result.js";
import type { SaleWatcher } from "../sale.js";
import { type VariantName, variantOf } from "../variants.js";

export interface Progress extends SaleWatcher {
  /** Gives the terminal back. */
  end(): void;
}

const TITLE_WIDTH = 14;
const MOST_BAR = 20;
const LEAST_BAR = 6;
/** "12345 sold, 123 left" */
const VERDICT_WIDTH = 20;
/** cli-progress cuts a line at the terminal's width and counts the codes of a colour as if they took room. */
const PAINT_WIDTH = 10;
const WIDE = 80;

export function progressFor(requests: number, stock: number, stream: NodeJS.WriteStream): Progress {
  return stream.isTTY ? new Bars(requests, stock, stream) : SILENCE;
}

const SILENCE: Progress = { started() {}, progressed() {}, ended() {}, end() {} };

class Bars implements Progress {
  readonly #bars: MultiBar;
  readonly #requests: number;
  readonly #stock: number;
  readonly #paint: (text: string) => string;
  #current: SingleBar | null = null;
  readonly #end = (): void => this.end();

  constructor(requests: number, stock: number, stream: NodeJS.WriteStream) {
    this.#requests = requests;
    this.#stock = stock;
    this.#paint = stream.columns >= WIDE ? colors.red : (text) => text;
    this.#bars = new MultiBar({
      stream,
      ...layoutFor(stream.columns, String(requests).length),
      barCompleteChar: "█",
      barIncompleteChar: "░",
      fps: 20,
      hideCursor: true,
      forceRedraw: true, // Over the ^C that the terminal writes.
      gracefulExit: false, // Ctrl-C is the main program's.
      emptyOnZero: true,
    });
    process.once("exit", this.#end); // Whatever ends the program, the terminal gets its cursor back.
  }

  started(name: VariantName): void {
    const title = variantOf(name).title.padEnd(TITLE_WIDTH);
    this.#current = this.#bars.create(this.#requests, 0, { title, verdict: colors.dim("servers start") });
  }

  progressed(answered: number, sold: number, left: number): void {
    this.#current?.update(answered, { verdict: this.#verdictOf(sold, left) });
  }

  ended(result: VariantResult): void {
    this.#current?.update(this.#requests, { verdict: this.#verdictOf(result.sold, result.leftAtEnd) });
    this.#bars.update();
  }

  end(): void {
    process.off("exit", this.#end);
    this.#bars.stop();
  }

  #verdictOf(sold: number, left: number): string {
    const verdict = `${String(sold).padStart(5)} sold, ${String(left).padStart(3)} left`;
    return sold > this.#stock ? this.#paint(verdict) : verdict;
  }
}

/** As much of the line as the terminal has room for: the bar shrinks first, then goes, and what was sold stays. */
function layoutFor(columns: number, digits: number): { readonly format: string; readonly barsize: number } {
  const isWide = columns >= WIDE;
  const buyers = isWide ? " buyers " : "";
  const verdict = VERDICT_WIDTH + (isWide ? PAINT_WIDTH : 0);
  const blanks = 5; // Four in the format, and the last column: clearing the rest of the line would take a character in it.
  const room = columns - TITLE_WIDTH - (2 * digits + 1) - buyers.length - verdict - blanks;
  const format = `{title} {bar} {value}/{total}${buyers}  {verdict}`;
  if (room >= LEAST_BAR) return { format, barsize: Math.min(MOST_BAR, room) };
  return { format: "{title} {verdict}", barsize: LEAST_BAR };
}
