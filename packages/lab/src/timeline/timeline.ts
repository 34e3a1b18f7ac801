/**
 * A space-time diagram as data: time goes down, each process, server and resource has a lane, and messages go between
 * them. text.ts, svg.ts and html.ts draw it.
 */
export interface Timeline {
  readonly title: string;
  /** A sentence or two: what is to be seen. */
  readonly caption?: string;
  /** What a hold is, in the key of a drawing. @default "has the lock" */
  readonly held?: string;
  /** What the labels of holds are, in the key of a drawing; "" where the caption says it. @default "with this token" */
  readonly labels?: string;
  /** From left to right. */
  readonly lanes: readonly Lane[];
  readonly bars?: readonly Bar[];
  readonly arrows?: readonly Arrow[];
  readonly marks?: readonly Mark[];
  readonly bands?: readonly Band[];
}

export interface Lane {
  readonly id: string;
  /** @default the id */
  readonly title?: string;
  readonly kind: "process" | "server" | "resource";
}

/** Something that lasts, on one lane. */
export interface Bar {
  readonly lane: string;
  readonly fromMs: number;
  /** Infinity: until the picture ends. */
  readonly toMs: number;
  /** A "stale" hold is one that the holder believes in, and that is over. */
  readonly kind: "hold" | "stale" | "wait" | "pause";
  /** Written on the bar: the token, a few characters. */
  readonly label?: string;
  /** What is told of its beginning and end; "" tells nothing. @default a sentence by its kind */
  readonly note?: string;
  readonly endNote?: string;
}

/** A message. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly sentMs: number;
  /** null: it was lost. */
  readonly receivedMs: number | null;
  /** "acquire", "granted 41" */
  readonly label: string;
}

/** Something that happens at one moment, on one lane. */
export interface Mark {
  readonly lane: string;
  readonly atMs: number;
  /** After a "crash" the lane is empty until a "restart". */
  readonly kind: "pause" | "crash" | "restart" | "clock" | "lost" | "refused" | "violation" | "note";
  /** A sentence. */
  readonly label: string;
}

/** Something that lasts, and concerns all lanes. */
export interface Band {
  readonly fromMs: number;
  readonly toMs: number;
  readonly kind: "violation" | "fault";
  readonly label: string;
}

/** When a lane is empty, because who it is for has crashed. */
export function absences(
  { marks = [] }: Timeline,
  lane: string,
): { readonly fromMs: number; readonly toMs: number }[] {
  const own = marks.filter((mark) => mark.lane === lane).sort((a, b) => a.atMs - b.atMs);
  return own
    .filter(({ kind }) => kind === "crash")
    .map(({ atMs }) => {
      const restart = own.find((mark) => mark.kind === "restart" && mark.atMs > atMs);
      return { fromMs: atMs, toMs: restart?.atMs ?? Infinity };
    });
}
