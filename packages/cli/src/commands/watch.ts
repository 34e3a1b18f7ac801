/** `holdfast watch`: who holds and who waits, as it changes; a picture on a terminal, else one line a change. */
import type { Inspector, LockState } from "holdfast";
import { EXIT } from "../exit-codes.js";
import { toldOf } from "../failure.js";
import { interruptible } from "../interrupt.js";
import { lockDetails, lockTable } from "../output/locks.js";
import { colorsFor, jsonOf, note, noteEvent, printLine } from "../output/output.js";
import { ownerText } from "../output/owner.js";
import { Screen } from "../output/screen.js";
import { printable } from "../output/text.js";
import { type Ruler, rulerFor } from "../output/width.js";
import { newSession } from "../session.js";
import type { Settings } from "../settings.js";
import { clockText, nowText, pause } from "../time.js";
import { byName } from "./look.js";

export interface WatchTerms {
  /** A name, or a pattern of names. */
  readonly pattern: string;
  readonly intervalMs: number;
}

/** The result of one look: the locks, or the reason why there are none. */
type View = { readonly locks: readonly LockState[] } | { readonly error: unknown };

interface Display {
  show(view: View): Promise<void>;
  end(): void;
}

export async function watch(terms: WatchTerms, settings: Settings): Promise<number> {
  const session = newSession(settings);
  const end = new AbortController();
  process.stdout.once("error", () => end.abort()); // The reader of the output is gone.
  try {
    return await interruptible(async (signal) => {
      signal.addEventListener("abort", () => end.abort(), { once: true });
      await session.connect(signal);
      const inspector = await session.hf.inspector();
      const display = await displayFor(terms, settings, () => end.abort());
      try {
        while (!end.signal.aborted) {
          const view = await viewOf(inspector, terms.pattern);
          if (!end.signal.aborted) await display.show(view);
          await pause(terms.intervalMs, end.signal);
        }
      } finally {
        display.end();
      }
      return EXIT.ok;
    });
  } finally {
    await session.close();
  }
}

async function viewOf(inspector: Inspector, pattern: string): Promise<View> {
  try {
    if (!isPattern(pattern)) return { locks: [await inspector.lock(pattern)] };
    const locks: LockState[] = [];
    for await (const lock of inspector.locks({ pattern })) locks.push(lock);
    return { locks: locks.sort(byName) };
  } catch (error) {
    return { error };
  }
}

/** A name without these is looked at alone, which costs less than finding it among all. */
function isPattern(text: string): boolean {
  return /[*?[\\]/.test(text);
}

async function displayFor(terms: WatchTerms, settings: Settings, onEnd: () => void): Promise<Display> {
  // A dumb terminal cannot draw in place.
  const draws = process.stdout.isTTY && process.env["TERM"] !== "dumb" && !settings.json;
  if (!draws) return new Changes(settings.json);
  return new Picture(terms.pattern, await rulerFor(terms.pattern), onEnd);
}

class Picture implements Display {
  readonly #pattern: string;
  readonly #screen: Screen;
  readonly #colors = colorsFor(process.stdout);
  /** For all that is shown. */
  #ruler: Ruler;
  #locks: readonly LockState[] = [];
  #trouble = "";
  #seenAt = "";

  constructor(pattern: string, ruler: Ruler, onEnd: () => void) {
    this.#pattern = pattern;
    this.#ruler = ruler;
    this.#screen = new Screen(
      process.stdout,
      process.stdin,
      (columns, rows) => this.#lines(columns, rows),
      onEnd,
    );
    this.#screen.open();
  }

  async show(view: View): Promise<void> {
    const locks = "locks" in view ? view.locks : this.#locks;
    const trouble = "locks" in view ? "" : toldOf(view.error);
    this.#ruler = await rulerFor(this.#pattern + trouble + jsonOf(locks));
    this.#locks = locks;
    this.#trouble = trouble;
    if ("locks" in view) this.#seenAt = clockText();
    this.#screen.draw();
  }

  end(): void {
    this.#screen.close();
  }

  #lines(columns: number, rows: number): readonly string[] {
    const [colors, ruler] = [this.#colors, this.#ruler];
    const [left, right] = [`holdfast watch ${printable(this.#pattern)}`, `${this.#seenAt}  q ends`];
    const room = columns - right.length;
    const title = ruler.padded(ruler.clipped(left, room - 1), room, "left");
    const body = isPattern(this.#pattern)
      ? this.#table(columns, rows - 3)
      : this.#locks.flatMap((lock) => lockDetails(lock, columns, colors, ruler));
    const state =
      this.#trouble === ""
        ? colors.dim(ruler.clipped(isPattern(this.#pattern) ? this.#sum() : "", columns))
        : colors.red(ruler.clipped(printable(this.#trouble), columns));
    return [colors.inverse(title + right), state, ...body];
  }

  #sum(): string {
    const held = this.#locks.filter(({ holder }) => holder).length;
    const waiting = this.#locks.reduce((sum, lock) => sum + lock.waiting, 0);
    return `${held} held, ${waiting} waiting`;
  }

  #table(columns: number, rows: number): readonly string[] {
    if (this.#locks.length === 0) return ["no lock is held or waited for"];
    const shown = this.#locks.slice(0, Math.max(rows, 1));
    const more = this.#locks.length - shown.length;
    const lines = lockTable(shown, columns, this.#colors, this.#ruler);
    return more > 0 ? [...lines.slice(0, -1), this.#colors.dim(`and ${more + 1} more`)] : lines;
  }
}

class Changes implements Display {
  readonly #json: boolean;
  #before = new Map<string, LockState>();
  #trouble = "";

  constructor(json: boolean) {
    this.#json = json;
  }

  async show(view: View): Promise<void> {
    if ("error" in view) this.#tellTrouble(view.error);
    else {
      this.#trouble = "";
      const now = new Map(view.locks.map((lock) => [lock.name, lock]));
      for (const lock of now.values()) this.#tell(changeOf(this.#before.get(lock.name), lock), lock);
      for (const [name, lock] of this.#before) {
        if (!now.has(name) && lock.holder)
          this.#tell("free", { ...lock, holder: null, waiters: [], waiting: 0 });
      }
      this.#before = now;
    }
  }

  end(): void {}

  #tell(event: Change | null, lock: LockState): void {
    if (!event) return;
    const at = nowText();
    printLine(
      this.#json ? jsonOf({ at, event, lock }) : `${at} ${printable(lock.name)} ${told(event, lock)}`,
    );
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

/** `held`: by another grant than before; `free`: no more; `line`: others wait, or more, or fewer. */
type Change = "held" | "free" | "line";

function changeOf(before: LockState | undefined, { holder, waiting, waiters }: LockState): Change | null {
  if (holder && holder.fence !== before?.holder?.fence) return "held";
  if (!holder && before?.holder) return "free";
  const line = waiters.map(({ process }) => process && `${process.host} ${process.pid}`).join();
  const lineBefore = before?.waiters.map(({ process }) => process && `${process.host} ${process.pid}`).join();
  return waiting !== (before?.waiting ?? 0) || line !== (lineBefore ?? "") ? "line" : null;
}

function told(event: Change, { holder, waiting }: LockState): string {
  if (event === "line") return `${waiting} waiting`;
  const line = waiting > 0 ? `, ${waiting} waiting` : "";
  return holder ? `held by ${ownerText(holder.process)}, fence ${holder.fence}${line}` : `free${line}`;
}
