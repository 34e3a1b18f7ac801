/** `holdfast watch`: who holds and who waits, as it changes; a picture on a terminal, else one line a change. */
import type { Inspector } from "holdfast";
import { EXIT } from "../exit-codes.js";
import { toldOf } from "../failure.js";
import { host } from "../host.js";
import { interruptible } from "../interrupt.js";
import type { Kind, Named } from "../kinds/kind.js";
import { kindOf } from "../kinds/kinds.js";
import type { KindName } from "../kinds/names.js";
import { newLockHome } from "../lock-home.js";
import { colorsFor, jsonOf, note, noteEvent, printLine } from "../output/output.js";
import { Screen } from "../output/screen.js";
import { stateDetails, stateTable } from "../output/states.js";
import { printable } from "../output/text.js";
import { type Ruler, rulerFor } from "../output/width.js";
import type { Settings } from "../settings.js";
import { clockText, nowText, pause } from "../time.js";
import { byName } from "./look.js";

export interface WatchTerms {
  readonly kind: KindName;
  /** A name, or a pattern of names. */
  readonly pattern: string;
  readonly intervalMs: number;
}

/** The result of one look: the states, or the reason why there are none. */
type View = { readonly states: readonly Named[] } | { readonly error: unknown };

interface Display {
  show(view: View): Promise<void>;
  end(): void;
}

export async function watch(terms: WatchTerms, settings: Settings): Promise<number> {
  const kind = kindOf(terms.kind);
  const home = newLockHome(settings, "", terms.kind);
  const end = new AbortController();
  host().stdout.once("error", () => end.abort()); // The reader of the output is gone.
  try {
    return await interruptible(async (signal) => {
      signal.addEventListener("abort", () => end.abort(), { once: true });
      await home.connect(signal);
      const inspector = await home.inspector();
      const display = await displayFor(kind, terms, settings, () => end.abort());
      try {
        while (!end.signal.aborted) {
          const view = await viewOf(kind, inspector, terms.pattern);
          if (!end.signal.aborted) await display.show(view);
          await pause(terms.intervalMs, end.signal);
        }
      } finally {
        display.end();
      }
      return EXIT.ok;
    });
  } finally {
    await home.close();
  }
}

async function viewOf(kind: Kind<Named>, inspector: Inspector, pattern: string): Promise<View> {
  try {
    if (!isPattern(pattern)) return { states: [await kind.look(inspector, pattern)] };
    const states: Named[] = [];
    for await (const state of kind.list(inspector, pattern, false)) states.push(state);
    return { states: states.sort(byName) };
  } catch (error) {
    return { error };
  }
}

/** A name without these is looked at alone, which costs less than finding it among all. */
function isPattern(text: string): boolean {
  return /[*?[\\]/.test(text);
}

async function displayFor(
  kind: Kind<Named>,
  terms: WatchTerms,
  settings: Settings,
  onEnd: () => void,
): Promise<Display> {
  // A dumb terminal cannot draw in place.
  const draws = host().stdout.isTTY && process.env["TERM"] !== "dumb" && !settings.json;
  if (!draws) return new Changes(kind, settings.json);
  return new Picture(kind, terms.pattern, await rulerFor(terms.pattern), onEnd);
}

class Picture implements Display {
  readonly #kind: Kind<Named>;
  readonly #pattern: string;
  readonly #screen: Screen;
  readonly #colors = colorsFor(host().stdout);
  /** For all that is shown. */
  #ruler: Ruler;
  #states: readonly Named[] = [];
  #trouble = "";
  #seenAt = "";

  constructor(kind: Kind<Named>, pattern: string, ruler: Ruler, onEnd: () => void) {
    this.#kind = kind;
    this.#pattern = pattern;
    this.#ruler = ruler;
    this.#screen = new Screen(
      host().stdout,
      host().stdin,
      (columns, rows) => this.#lines(columns, rows),
      onEnd,
    );
    this.#screen.open();
  }

  async show(view: View): Promise<void> {
    const states = "states" in view ? view.states : this.#states;
    const trouble = "states" in view ? "" : toldOf(view.error);
    this.#ruler = await rulerFor(this.#pattern + trouble + jsonOf(states));
    this.#states = states;
    this.#trouble = trouble;
    if ("states" in view) this.#seenAt = clockText();
    this.#screen.draw();
  }

  end(): void {
    this.#screen.close();
  }

  #lines(columns: number, rows: number): readonly string[] {
    const [kind, colors, ruler] = [this.#kind, this.#colors, this.#ruler];
    const [left, right] = [`holdfast watch ${printable(this.#pattern)}`, `${this.#seenAt}  q ends`];
    const room = columns - right.length;
    const title = ruler.padded(ruler.clipped(left, room - 1), room, "left");
    const body = isPattern(this.#pattern)
      ? this.#table(columns, rows - 3)
      : this.#states.flatMap((state) => stateDetails(kind, state, { width: columns, colors, ruler }));
    const state =
      this.#trouble === ""
        ? colors.dim(ruler.clipped(isPattern(this.#pattern) ? kind.sum(this.#states) : "", columns))
        : colors.red(ruler.clipped(printable(this.#trouble), columns));
    return [colors.inverse(title + right), state, ...body];
  }

  #table(columns: number, rows: number): readonly string[] {
    const kind = this.#kind;
    if (this.#states.length === 0) return [kind.none];
    const shown = this.#states.slice(0, Math.max(rows, 1));
    const more = this.#states.length - shown.length;
    const lines = stateTable(kind, shown, { width: columns, colors: this.#colors, ruler: this.#ruler });
    return more > 0 ? [...lines.slice(0, -1), this.#colors.dim(`and ${more + 1} more`)] : lines;
  }
}

class Changes implements Display {
  readonly #kind: Kind<Named>;
  readonly #json: boolean;
  #before = new Map<string, Named>();
  #trouble = "";

  constructor(kind: Kind<Named>, json: boolean) {
    this.#kind = kind;
    this.#json = json;
  }

  async show(view: View): Promise<void> {
    if ("error" in view) this.#tellTrouble(view.error);
    else {
      this.#trouble = "";
      const now = new Map(view.states.map((state) => [state.name, state]));
      for (const state of now.values()) {
        const event = this.#kind.changeOf(this.#before.get(state.name), state);
        if (event !== null) this.#tell(event, state);
      }
      for (const [name, before] of this.#before) {
        const gone = now.has(name) ? null : this.#kind.gone(before);
        if (gone) this.#tell(gone.event, gone.state);
      }
      this.#before = now;
    }
  }

  end(): void {}

  #tell(event: string, state: Named): void {
    const at = nowText();
    printLine(
      this.#json
        ? jsonOf({ at, event, ...this.#membersOf(state) })
        : `${at} ${printable(state.name)} ${this.#kind.told(event, state)}`,
    );
  }

  /** A line about a lock has it as `lock`; `event` is taken. */
  #membersOf(state: Named): object {
    const { name } = this.#kind;
    return name === "lock" ? { lock: state } : { kind: name, state };
  }

  /** Once, until it is over. */
  #tellTrouble(error: unknown): void {
    const text = toldOf(error);
    if (text === this.#trouble) return;
    this.#trouble = text;
    if (this.#json) noteEvent({ at: nowText(), event: "trouble", message: text });
    else note(text);
  }
}
