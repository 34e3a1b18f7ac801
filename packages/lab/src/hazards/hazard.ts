/** A hazard: something that happens to locks in practice, what it breaks, and where that is shown. */

/** Where a test is: the file from the root of the repository, and the test's title, or the name of a case. */
export interface TestPlace {
  readonly file: string;
  readonly title: string;
}

export type Concern =
  | "locks"
  | "waiting"
  | "clients"
  | "servers"
  | "tokens"
  | "fencing"
  | "election"
  | "queue"
  | "limiter"
  | "semaphore"
  | "quorum"
  | "cluster";

export interface Hazard {
  /** H01 to H72. */
  readonly id: string;
  readonly sentence: string;
  readonly concerns: readonly Concern[];
  /** What can be seen where it is guarded against. */
  readonly answer: string;
  /** A naive recipe, or another library's way, that it breaks. */
  readonly red: readonly TestPlace[];
  /** holdfast, which it does not. */
  readonly green: readonly TestPlace[];
  /** Why no test is here yet: what it concerns is not built. */
  readonly later?: string;
}

/** Places of tests, written short. */
export function lab(file: string, title: string): TestPlace {
  return { file: `packages/lab/test/hazards/${file}.test.ts`, title };
}

export function suite(theme: string, title: string): TestPlace {
  return { file: `packages/conformance/src/mutex/${theme}.ts`, title };
}

export function unit(file: string, title: string): TestPlace {
  return { file: `packages/holdfast/test/${file}.test.ts`, title };
}

const NOT_BUILT: Readonly<Record<string, string>> = {
  election: "elections are not built yet",
  queue: "queues are not built yet",
  limiter: "rate limiters are not built yet",
  semaphore: "semaphores are not built yet",
  quorum: "locks over several servers are not built yet",
  cluster: "locks on a cluster are not built yet: holdfast refuses one, and says so",
};

/** One for a primitive that does not exist yet. */
export function later(
  id: string,
  concern: keyof typeof NOT_BUILT & Concern,
  sentence: string,
  answer: string,
): Hazard {
  return {
    id,
    sentence,
    concerns: [concern],
    answer,
    red: [],
    green: [],
    later: NOT_BUILT[concern] as string,
  };
}
