/** What is to be seen while the load runs: bars on a terminal, lines otherwise. Always on stderr. */
import { MultiBar, type SingleBar } from "cli-progress";

export interface Progress {
  /** A new line, such as "locks: results". */
  began(title: string, total: number): void;
  reached(count: number): void;
  /** Gives the terminal back. */
  end(): void;
}

const TITLE_WIDTH = 16;
const BAR_WIDTH = 30;

export function progressFor(stream: NodeJS.WriteStream): Progress {
  return stream.isTTY ? new Bars(stream) : new Lines(stream);
}

class Bars implements Progress {
  readonly #bars: MultiBar;
  #current: SingleBar | null = null;
  readonly #end = (): void => this.end();

  constructor(stream: NodeJS.WriteStream) {
    this.#bars = new MultiBar({
      stream,
      format: "{title} {bar} {value}/{total}",
      barsize: Math.max(6, Math.min(BAR_WIDTH, stream.columns - TITLE_WIDTH - 14)),
      barCompleteChar: "█",
      barIncompleteChar: "░",
      fps: 10,
      hideCursor: true,
      forceRedraw: true, // Over the ^C that the terminal writes.
      gracefulExit: false, // Ctrl-C is the main program's.
    });
    process.once("exit", this.#end); // Whatever ends the program, the terminal gets its cursor back.
  }

  began(title: string, total: number): void {
    this.#current = this.#bars.create(total, 0, { title: title.padEnd(TITLE_WIDTH) });
  }

  reached(count: number): void {
    this.#current?.update(count);
  }

  end(): void {
    process.off("exit", this.#end);
    this.#bars.stop();
  }
}

/** Into a pipe or a file: each stage once it is whole. */
class Lines implements Progress {
  readonly #stream: NodeJS.WriteStream;
  #title = "";
  #total = 0;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  began(title: string, total: number): void {
    this.#title = title;
    this.#total = total;
  }

  reached(count: number): void {
    if (count === this.#total) this.#stream.write(`${this.#title}: ${count}\n`);
  }

  end(): void {}
}
