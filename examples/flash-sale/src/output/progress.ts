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

export function progressFor(requests: number, stock: number, stream: NodeJS.WriteStream): Progress {
  return stream.isTTY ? new Bars(requests, stock, stream) : SILENCE;
}

const SILENCE: Progress = { started() {}, progressed() {}, ended() {}, end() {} };

class Bars implements Progress {
  readonly #bars: MultiBar;
  readonly #requests: number;
  readonly #stock: number;
  #current: SingleBar | null = null;

  constructor(requests: number, stock: number, stream: NodeJS.WriteStream) {
    this.#requests = requests;
    this.#stock = stock;
    this.#bars = new MultiBar({
      stream,
      format: `{title} {bar} {value}/{total} buyers   {verdict}`,
      barCompleteChar: "█",
      barIncompleteChar: "░",
      barsize: 20,
      fps: 20,
      hideCursor: true,
      gracefulExit: false, // Ctrl-C is the main program's.
      emptyOnZero: true,
    });
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
    this.#bars.stop();
  }

  #verdictOf(sold: number, left: number): string {
    const verdict = `${String(sold).padStart(5)} sold, ${String(left).padStart(3)} left`;
    return sold > this.#stock ? colors.red(verdict) : verdict;
  }
}
