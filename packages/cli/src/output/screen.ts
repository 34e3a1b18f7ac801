/**
 * Screen: redraws the whole terminal in place, and restores it at the end. Each picture is one write over the last one, without
 * clearing it first, so that nothing flickers.
 */
import { stripVTControlCharacters } from "node:util";

const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const LEAVE = "\u001b[?7h\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const REST_OF_LINE = "\u001b[K";
const REST_OF_SCREEN = "\u001b[J";
/** Terminals that know it show a picture only when it is whole; the others ignore it. */
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";

const KEYS_THAT_END = ["q", "Q", "\u0003"];
const ESCAPE_KEY = "\u001b";
const SUSPEND_KEY = "\u001a";

/** Several keys may come at once. Esc begins what other keys send as well, so it must be alone. */
function isEnd(text: string): boolean {
  if (text === ESCAPE_KEY) return true;
  const keys = stripVTControlCharacters(text);
  return KEYS_THAT_END.some((key) => keys.includes(key));
}

export class Screen {
  readonly #output: NodeJS.WriteStream;
  readonly #input: NodeJS.ReadStream;
  /** Returns the lines for a screen of `columns` and `rows`. */
  readonly #picture: (columns: number, rows: number) => readonly string[];
  readonly #onEnd: () => void;
  #open = false;

  /** @param onEnd is called when the user has pressed q, Esc or Ctrl-C. */
  constructor(
    output: NodeJS.WriteStream,
    input: NodeJS.ReadStream,
    picture: (columns: number, rows: number) => readonly string[],
    onEnd: () => void,
  ) {
    this.#output = output;
    this.#input = input;
    this.#picture = picture;
    this.#onEnd = onEnd;
  }

  open(): void {
    this.#open = true;
    this.#output.write(ENTER);
    this.#output.on("resize", this.#redraw);
    process.once("exit", this.#giveBack); // Whatever ends the program.
    process.on("SIGCONT", this.#resume);
    if (this.#input.isTTY) {
      this.#input.setRawMode(true);
      this.#input.on("data", this.#key);
      this.#input.resume();
    }
  }

  draw(): void {
    if (!this.#open) return;
    const rows = this.#output.rows || 24;
    // In the last column, clearing the rest of the line would take the character there.
    const lines = this.#picture((this.#output.columns || 80) - 1, rows).slice(0, rows);
    const text = lines.map((line) => line + REST_OF_LINE).join("\r\n");
    this.#output.write(BEGIN + HOME + text + REST_OF_SCREEN + END);
  }

  close(): void {
    if (!this.#open) return;
    this.#output.off("resize", this.#redraw);
    this.#input.off("data", this.#key);
    process.off("exit", this.#giveBack);
    process.off("SIGCONT", this.#resume);
    this.#giveBack();
    this.#input.pause();
  }

  readonly #redraw = (): void => this.draw();

  readonly #giveBack = (): void => {
    if (!this.#open) return;
    this.#open = false;
    if (this.#input.isTTY) this.#input.setRawMode(false);
    this.#output.write(LEAVE);
  };

  readonly #key = (keys: Buffer): void => {
    const text = keys.toString();
    if (isEnd(text)) this.#onEnd();
    else if (text === SUSPEND_KEY) this.#suspend();
  };

  /** In raw mode the terminal does not do it by itself. */
  #suspend(): void {
    this.#giveBack();
    process.kill(process.pid, "SIGTSTP");
  }

  readonly #resume = (): void => {
    if (this.#open) return;
    this.#open = true;
    this.#output.write(ENTER);
    if (this.#input.isTTY) this.#input.setRawMode(true);
    this.draw();
  };
}
