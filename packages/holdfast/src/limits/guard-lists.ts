/** The lists of a guard: who is never counted, and who is never let in. Loaded ones are loaded once at a time. */
import { publish } from "../telemetry/events.js";
import { agedMs, type Instant } from "../time/clock.js";
import type { Schedule } from "../time/schedule.js";
import { checkSubjects, type GuardTerms, type SubjectSet } from "./guard-terms.js";

/** After a load that failed the next one comes so much sooner. */
const SOONER = 10;

class LoadedList {
  readonly #schedule: Schedule;
  readonly #load: () => Promise<SubjectSet>;
  readonly #everyMs: number;
  readonly #failed: (error: unknown) => void;
  #subjects: SubjectSet | null = null;
  #loading: Promise<void> | null = null;
  #patience: Promise<void> | null = null;
  #loadedAt: Instant | null = null;
  #goodForMs = 0;

  constructor(
    schedule: Schedule,
    load: () => Promise<SubjectSet>,
    everyMs: number,
    failed: (error: unknown) => void,
  ) {
    this.#schedule = schedule;
    this.#load = load;
    this.#everyMs = everyMs;
    this.#failed = failed;
  }

  /** The first load is waited for, at most `limitMs`, and once; later ones happen in the background. */
  subjects(limitMs: number): SubjectSet | Promise<SubjectSet> {
    const now = this.#schedule.clock.now();
    if (!this.#loadedAt || agedMs(now, this.#loadedAt) >= this.#goodForMs) this.#refresh();
    if (this.#subjects) return this.#subjects;
    return this.#loading ? this.#first(this.#loading, limitMs) : [];
  }

  async #first(loading: Promise<void>, limitMs: number): Promise<SubjectSet> {
    this.#patience ??= new Promise((resolve) => {
      const alarm = this.#schedule.after(limitMs, resolve);
      void loading.then(() => {
        this.#schedule.cancel(alarm);
        resolve();
      });
    });
    await this.#patience;
    return this.#subjects ?? [];
  }

  #refresh(): void {
    this.#loading ??= this.#load()
      .then(
        (subjects) => {
          this.#subjects = subjects;
          this.#goodForMs = this.#everyMs;
        },
        (error: unknown) => {
          this.#goodForMs = this.#everyMs / SOONER;
          this.#failed(error);
        },
      )
      .then(() => {
        this.#loadedAt = this.#schedule.clock.now();
        this.#loading = null;
      });
  }
}

export class GuardLists {
  readonly #lists: { readonly allow: SubjectSet | LoadedList; readonly deny: SubjectSet | LoadedList };

  constructor(schedule: Schedule, { name, allow, deny, listsMs }: GuardTerms) {
    const listOf = (list: "allow" | "deny", given: typeof allow): SubjectSet | LoadedList => {
      if (typeof given !== "function") return given;
      const load = async () => checkSubjects(list, await given());
      return new LoadedList(schedule, load, listsMs, (error) =>
        publish("holdfast:guard:list-failed", () => ({ guard: name, list, error })),
      );
    };
    this.#lists = { allow: listOf("allow", allow), deny: listOf("deny", deny) };
  }

  /** What they say of a subject; null: nothing. Without waiting where they are there. */
  say(subject: string, limitMs: number): "allow" | "deny" | null | Promise<"allow" | "deny" | null> {
    const [allow, deny] = [this.#lists.allow, this.#lists.deny].map((list) =>
      list instanceof LoadedList ? list.subjects(limitMs) : list,
    ) as [SubjectSet | Promise<SubjectSet>, SubjectSet | Promise<SubjectSet>];
    if (allow instanceof Promise || deny instanceof Promise)
      return Promise.all([allow, deny]).then(([allowed, denied]) => sayOf(allowed, denied, subject));
    return sayOf(allow, deny, subject);
  }
}

function sayOf(allow: SubjectSet, deny: SubjectSet, subject: string): "allow" | "deny" | null {
  if (has(allow, subject)) return "allow";
  return has(deny, subject) ? "deny" : null;
}

function has(subjects: SubjectSet, subject: string): boolean {
  return "has" in subjects ? subjects.has(subject) : subjects.includes(subject);
}
