/** Checks of arguments. They run once, in the public methods, so that the code inside can rely on the arguments. */
import { InvalidArgumentError } from "./errors.js";
import { ANY_DURATION, type Duration, durationMs } from "./time/duration.js";
import type { WaitSettings } from "./time/pending.js";

const LONGEST = 512;

/** Accepts every name of a lock that keeps its keys distinct and in one cluster slot. @throws {InvalidArgumentError} */
export function checkLockName(name: unknown): string {
  return checkWord("name", name);
}

/** Accepts the names of locks, limits and targets. @throws {InvalidArgumentError} */
export function checkWord(argument: string, word: unknown): string {
  if (typeof word !== "string") throw new InvalidArgumentError(argument, `must be text, not ${typeof word}`);
  if (word === "") throw new InvalidArgumentError(argument, "must not be empty");
  if (word.length > LONGEST) {
    throw new InvalidArgumentError(argument, `must have at most ${LONGEST} characters, not ${word.length}`);
  }
  // An empty hash tag would scatter the keys of one lock over a cluster.
  if (word.startsWith("}")) throw new InvalidArgumentError(argument, "must not begin with }");
  // In UTF-8 all lone surrogates become the same replacement character: two names, one lock.
  if (!word.isWellFormed()) throw new InvalidArgumentError(argument, "must be well-formed Unicode");
  return word;
}

/** Refuses misspelt options, because a lock with a silently ignored option is not the one that was meant. */
export function checkOptions(argument: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null) {
    const example = known.includes("wait") ? "{ wait: 500 }" : `{ ${known[0]}: … }`;
    const came = options === null ? "null" : typeof options;
    throw new InvalidArgumentError(argument, `must be an object, such as ${example}, not ${came}`);
  }
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) {
      throw new InvalidArgumentError(key, `is not an option here: use ${known.join(", ")}`);
    }
  }
}

/** Everything, said aloud: a name that got lost on its way must not mean all. */
export interface All {
  readonly all: true;
}

/** What a call is about. Null: all. @throws {InvalidArgumentError} */
export function oneOrAll<Given, Checked>(
  argument: string,
  given: Given | All,
  check: (argument: string, given: Given) => Checked,
): Checked | null {
  if (given === undefined || given === null)
    throw new InvalidArgumentError(argument, `is ${given}: name it, or give { all: true } for all`);
  if (typeof given !== "object" || Array.isArray(given)) return check(argument, given as Given);
  checkOptions(argument, given, ["all"]);
  if ((given as All).all !== true) throw new InvalidArgumentError("all", "must be true");
  return null;
}

/** A condition that got lost on its way must not become a call without it. @throws {InvalidArgumentError} */
export function checkGiven(condition: string, options: object): void {
  if (condition in options && Reflect.get(options, condition) === undefined)
    throw new InvalidArgumentError(condition, "is undefined: leave it out where no condition is meant");
}

export interface WaitOptions {
  /** Longest wait. 0 looks once; Infinity waits without end. @default "10s" */
  readonly wait?: Duration | undefined;
  /** Ends the wait when it aborts. @default none */
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_WAIT_MS = 10_000;

/** Checks `wait` and `signal`, which all waits have. The names of the options are checked by the caller. @throws {InvalidArgumentError} */
export function checkWait(options: WaitOptions, defaultMs = DEFAULT_WAIT_MS): WaitSettings {
  return { waitMs: checkWaitMs(options, defaultMs), signal: checkSignal(options.signal) };
}

/** @throws {InvalidArgumentError} */
export function checkWaitMs({ wait }: WaitOptions, defaultMs = DEFAULT_WAIT_MS): number {
  return wait === undefined ? defaultMs : durationMs("wait", wait, ANY_DURATION);
}

/** @throws {InvalidArgumentError} */
export function checkSignal(signal: unknown): AbortSignal | undefined {
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidArgumentError("signal", "must be an AbortSignal");
  }
  return signal;
}

type Method = (...args: never[]) => unknown;

/** The most arguments of each public method, as its types say. `close()` is handed to listeners, whose arguments say nothing. */
type Most<Noun> = {
  readonly [Name in Exclude<keyof Noun & string, "close"> as Noun[Name] extends Method
    ? Name
    : never]: Noun[Name] extends Method ? Required<Parameters<Noun[Name]>>["length"] : never;
};

/**
 * Makes every method of a class refuse arguments beyond its last: one that was meant for another noun must not be passed over in silence.
 * A method without `async` throws, one with it rejects.
 */
export function refuseSurplus<Noun extends object>(
  noun: { readonly prototype: Noun },
  most: Most<Noun>,
): void {
  for (const [name, count] of Object.entries<number>(most)) {
    const method = Reflect.get(noun.prototype, name) as Method;
    Object.defineProperty(noun.prototype, name, {
      value: withoutSurplus(method, name, count),
      writable: true,
      configurable: true,
    });
  }
}

/** The function, which refuses arguments beyond its last. */
export function withoutSurplus<Called extends Method>(method: Called, name: string, most: number): Called {
  const rejects = method.constructor.name === "AsyncFunction";
  const checked = function (this: unknown, ...args: never[]): unknown {
    if (args.length <= most) return method.apply(this, args);
    const error = new InvalidArgumentError(
      "arguments",
      `of ${name}() are ${most === 0 ? "none" : `${most} at most`}, not ${args.length}`,
    );
    Error.captureStackTrace(error, checked);
    if (rejects) return Promise.reject(error);
    throw error;
  };
  return Object.defineProperty(checked, "name", { value: name }) as Called;
}
