/** What a trial shows: a timeline that grows as things happen, in which large tokens get short names. */
import type { Arrow, Band, Bar, Lane, Mark, Timeline } from "../timeline/timeline.js";
import { rounded } from "./words.js";

/** A token in a text: its name is known only when all tokens are. */
const QUOTED = /⟦(\d+)⟧/g;
/** Up to here a token is short enough to be shown as it is. */
const SHORT = 9_999n;

/** A token, to be put into labels and sentences. */
function quoted(token: bigint): string {
  return `⟦${token}⟧`;
}

export class Picture {
  readonly lanes: Lane[] = [];
  readonly bars: Bar[] = [];
  readonly arrows: Arrow[] = [];
  readonly marks: Mark[] = [];
  readonly bands: Band[] = [];
  /** What is to be seen, if the sentence of the trial does not say it. */
  caption = "";
  /** What a hold is, where it is no lock. */
  held: string | null = null;
  /** What the labels of holds are, where they are no tokens. */
  labels: string | null = null;
  /** The recipe has no tokens: what stands for them is the order of its grants. */
  isWithoutTokens = false;
  readonly #tokens = new Set<bigint>();

  /** A token that this trial has seen. */
  saw(token: bigint): string {
    this.#tokens.add(token);
    return quoted(token);
  }

  timeline(title: string): Timeline {
    const captions = [this.caption, this.#key()].filter((text) => text !== "");
    const labels = this.labels ?? (this.isWithoutTokens ? "" : null);
    return {
      title,
      ...(this.held === null ? {} : { held: this.held }),
      ...(labels === null ? {} : { labels }),
      ...(captions.length === 0 ? {} : { caption: captions.join(" ") }),
      lanes: this.lanes,
      bars: this.bars.map((bar) => this.#allNamed(bar)),
      arrows: this.arrows.map((arrow) => this.#allNamed(arrow)),
      marks: this.marks.map((mark) => this.#allNamed(mark)),
      bands: this.bands.map((band) => this.#allNamed(band)),
    };
  }

  /** The text with names for tokens: t1 is the smallest. */
  named(text: string): string {
    return text.replaceAll(QUOTED, (_, token: string) => this.#nameOf(BigInt(token)));
  }

  /** The text of a checker, which has tokens in full and times to the thousandth. */
  shortened(text: string): string {
    const short = this.#large.reduce(
      (rest, token) => rest.replaceAll(String(token), this.#nameOf(token)),
      rounded(text),
    );
    return this.isWithoutTokens ? short.replaceAll(/\btoken (?=\d)/g, "grant ") : short;
  }

  get #large(): bigint[] {
    return [...this.#tokens].filter((token) => token > SHORT).sort((a, b) => (a < b ? -1 : 1));
  }

  #nameOf(token: bigint): string {
    const place = this.#large.indexOf(token);
    return place === -1 ? String(token) : `t${place + 1}`;
  }

  /** What the names stand for. */
  #key(): string {
    if (this.isWithoutTokens) return "No tokens here: 1 is the first grant of the lock, 2 the next.";
    const [first, ...others] = this.#large;
    if (first === undefined) return "";
    const more = others.map((token) => `${this.#nameOf(token)} = t1 + ${grouped(token - first)}`);
    return [`Fencing tokens: t1 = ${first}`, ...more].join(", ");
  }

  #allNamed<Part extends object>(part: Part): Part {
    const entries = Object.entries(part).map(([key, value]) => [
      key,
      typeof value === "string" ? this.named(value) : value,
    ]);
    return Object.fromEntries(entries) as Part;
  }
}

function grouped(value: bigint): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}
