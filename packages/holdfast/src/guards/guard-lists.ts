/** GuardLists: the subjects that a guard never counts, and those that it never admits. One load of a list at a time. */
import { checkOptions } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import { publish } from "../telemetry/events.js";
import { agedMs, type Instant } from "../time/clock.js";
import type { Schedule } from "../time/schedule.js";
import { checkSubjects, type GuardSettings, type SubjectSet } from "./guard-settings.js";

export interface HitOptions {
  /** Another name under which `allow` and `deny` may have the subject. For a network that is counted: the one address. */
  readonly listedAs?: string | undefined;
}

/** After a failed load the next one follows sooner, by this factor. */
const SOONER = 10;
/** The time-out of one load, where `listMaxAge` is not shorter. */
const LONGEST_LOAD_MS = 10_000;

interface Load {
  readonly since: Instant;
  readonly number: number;
  readonly done: Promise<void>;
}

class LoadedList {
  readonly #schedule: Schedule;
  readonly #load: () => Promise<SubjectSet>;
  readonly #everyMs: number;
  readonly #failed: (error: unknown) => void;
  #subjects: SubjectSet | null = null;
  /** The number of the load that the subjects came from: a load that was given up may end after a later one. */
  #from = 0;
  #loads = 0;
  #loading: Load | null = null;
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

  /** Waits for the first load, once and at most `timeoutMs`. Later loads happen in the background. */
  subjects(timeoutMs: number): SubjectSet | Promise<SubjectSet> {
    const now = this.#schedule.clock.now();
    this.#giveUpHanging(now);
    if (!this.#loadedAt || agedMs(now, this.#loadedAt) >= this.#goodForMs) this.#loading ??= this.#begin(now);
    if (this.#subjects) return this.#subjects;
    return this.#loading ? this.#first(this.#loading, timeoutMs) : [];
  }

  async #first({ done }: Load, timeoutMs: number): Promise<SubjectSet> {
    this.#patience ??= new Promise((resolve) => {
      const alarm = this.#schedule.after(timeoutMs, resolve);
      void done.then(() => {
        this.#schedule.cancel(alarm);
        resolve();
      });
    });
    await this.#patience;
    return this.#subjects ?? [];
  }

  /** Every question checks this, so that no timer is needed. */
  #giveUpHanging(now: Instant): void {
    const timeoutMs = Math.min(this.#everyMs, LONGEST_LOAD_MS);
    if (!this.#loading || agedMs(now, this.#loading.since) < timeoutMs) return;
    this.#loading = null;
    this.#failed(new Error(`the list was not loaded within ${timeoutMs} ms: another load begins`));
  }

  #begin(since: Instant): Load {
    this.#loads += 1;
    const number = this.#loads;
    const done = this.#load().then(
      (subjects) => {
        if (number > this.#from) [this.#subjects, this.#from] = [subjects, number];
        this.#end(number, this.#everyMs);
      },
      (error: unknown) => {
        if (this.#end(number, this.#everyMs / SOONER)) this.#failed(error);
      },
    );
    return { since, number, done };
  }

  /** Returns false for a load that was given up before. */
  #end(number: number, goodForMs: number): boolean {
    if (this.#loading?.number !== number) return false;
    this.#loading = null;
    this.#loadedAt = this.#schedule.clock.now();
    this.#goodForMs = goodForMs;
    return true;
  }
}

export class GuardLists {
  readonly #lists: { readonly allow: SubjectSet | LoadedList; readonly deny: SubjectSet | LoadedList };

  constructor(schedule: Schedule, { name, allow, deny, listMaxAgeMs }: GuardSettings) {
    const openList = (list: "allow" | "deny", given: typeof allow): SubjectSet | LoadedList => {
      if (typeof given !== "function") return given;
      const load = async () => checkSubjects(list, await given());
      return new LoadedList(schedule, load, listMaxAgeMs, (error) =>
        publish("holdfast:guard:list-failed", () => ({ guard: name, list, error })),
      );
    };
    this.#lists = { allow: openList("allow", allow), deny: openList("deny", deny) };
  }

  /** Searches the lists for any of the names. Null: none of them is listed. A promise only while a list is first loaded. */
  say(
    names: readonly string[],
    timeoutMs: number,
  ): "allow" | "deny" | null | Promise<"allow" | "deny" | null> {
    const [allow, deny] = [this.#lists.allow, this.#lists.deny].map((list) =>
      list instanceof LoadedList ? list.subjects(timeoutMs) : list,
    ) as [SubjectSet | Promise<SubjectSet>, SubjectSet | Promise<SubjectSet>];
    if (allow instanceof Promise || deny instanceof Promise)
      return Promise.all([allow, deny]).then(([allowed, denied]) => findListed(allowed, denied, names));
    return findListed(allow, deny, names);
  }
}

function findListed(allow: SubjectSet, deny: SubjectSet, names: readonly string[]): "allow" | "deny" | null {
  if (has(allow, names)) return "allow";
  return has(deny, names) ? "deny" : null;
}

function has(subjects: SubjectSet, names: readonly string[]): boolean {
  return names.some((name) => ("has" in subjects ? subjects.has(name) : subjects.includes(name)));
}

/** @throws {InvalidArgumentError} */
export function parseListedAs(options: HitOptions | undefined): string | undefined {
  if (options === undefined) return undefined;
  checkOptions("options", options, ["listedAs"]);
  const { listedAs } = options;
  if (listedAs === undefined || typeof listedAs === "string") return listedAs;
  throw new InvalidArgumentError("listedAs", "must be text");
}
