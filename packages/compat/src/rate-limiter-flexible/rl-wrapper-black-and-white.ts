/** RLWrapperBlackAndWhite: a limiter, and keys that it never sees because they are always refused or always admitted. */
import { InvalidArgumentError } from "holdfast";
import type { CallOptions, Key } from "./limiter-calls.js";
import { RateLimiterCompatibleAbstract, type RateLimiterLike } from "./rate-limiter-compatible-abstract.js";
import { RateLimiterRes } from "./rate-limiter-res.js";

// biome-ignore lint/suspicious/noExplicitAny: the original's type, to which a program's functions are assigned
type IsListed = (key: any) => boolean;

export interface IRLWrapperBlackAndWhiteOptions {
  limiter: RateLimiterLike;
  /** Keys that are refused, compared strictly: 1 is not "1". @default none */
  blackList?: string[] | number[];
  /** Keys that are admitted, also where the black list has them. @default none */
  whiteList?: string[] | number[];
  /** Whether a key that is not in `blackList` is refused. @default never */
  isBlackListed?: IsListed;
  /** Whether a key that is not in `whiteList` is admitted. @default never */
  isWhiteListed?: IsListed;
  /** Whether the limiter counts the calls of listed keys as well, without a say in their outcome. @default false */
  runActionAnyway?: boolean;
}

const never: IsListed = () => false;

export class RLWrapperBlackAndWhite extends RateLimiterCompatibleAbstract {
  runActionAnyway: boolean;
  #limiter!: RateLimiterLike;
  #blackList: string[] | number[] = [];
  #whiteList: string[] | number[] = [];
  #isBlackListed = never;
  #isWhiteListed = never;

  /** @throws {Error} an option is missing or invalid */
  constructor(options: IRLWrapperBlackAndWhiteOptions) {
    super();
    const { limiter, blackList, whiteList, isBlackListed, isWhiteListed, runActionAnyway } =
      options ?? ({} as IRLWrapperBlackAndWhiteOptions);
    this.limiter = limiter;
    this.blackList = blackList;
    this.whiteList = whiteList;
    this.isBlackListed = isBlackListed;
    this.isWhiteListed = isWhiteListed;
    this.runActionAnyway = runActionAnyway ?? false;
  }

  get limiter(): RateLimiterLike {
    return this.#limiter;
  }

  set limiter(limiter: RateLimiterLike) {
    if (limiter === undefined) throw new Error("limiter is not set");
    this.#limiter = limiter;
  }

  get blackList(): string[] | number[] {
    return this.#blackList;
  }

  set blackList(keys: string[] | number[] | undefined) {
    this.#blackList = Array.isArray(keys) ? keys : [];
  }

  get whiteList(): string[] | number[] {
    return this.#whiteList;
  }

  set whiteList(keys: string[] | number[] | undefined) {
    this.#whiteList = Array.isArray(keys) ? keys : [];
  }

  get isBlackListed(): IsListed {
    return this.#isBlackListed;
  }

  set isBlackListed(isListed: IsListed | undefined) {
    this.#isBlackListed = functionOf("isBlackListed", isListed);
  }

  get isWhiteListed(): IsListed {
    return this.#isWhiteListed;
  }

  set isWhiteListed(isListed: IsListed | undefined) {
    this.#isWhiteListed = functionOf("isWhiteListed", isListed);
  }

  override get keyPrefix(): string {
    return this.limiter.keyPrefix;
  }

  override get blockDuration(): number {
    return this.limiter.blockDuration;
  }

  override set blockDuration(seconds: number) {
    this.limiter.blockDuration = seconds;
  }

  override get execEvenly(): boolean {
    return this.limiter.execEvenly;
  }

  override set execEvenly(value: boolean) {
    this.limiter.execEvenly = value;
  }

  override async consume(key: Key, points = 1, options: CallOptions = {}): Promise<RateLimiterRes> {
    const listed = this.#listed(key);
    const result = await this.#unless(listed, () => this.limiter.consume(key, points, options));
    return listed === "black" ? Promise.reject(result) : result;
  }

  override async penalty(key: Key, points = 1, options: CallOptions = {}): Promise<RateLimiterRes> {
    return this.#unless(this.#listed(key), () => this.limiter.penalty(key, points, options));
  }

  override async reward(key: Key, points = 1, options: CallOptions = {}): Promise<RateLimiterRes> {
    return this.#unless(this.#listed(key), () => this.limiter.reward(key, points, options));
  }

  /** With `runActionAnyway`, what the limiter has counted. */
  override async get(key: Key, options: CallOptions = {}): Promise<RateLimiterRes | null> {
    const listed = this.runActionAnyway ? null : this.#listed(key);
    return this.#unless(listed, () => this.limiter.get(key, options));
  }

  override async set(
    key: Key,
    points: number,
    seconds: number,
    options: CallOptions = {},
  ): Promise<RateLimiterRes> {
    return this.#unless(this.#listed(key), () => this.limiter.set(key, points, seconds, options));
  }

  override async block(key: Key, seconds: number, options: CallOptions = {}): Promise<RateLimiterRes> {
    return this.#unless(this.#listed(key), () => this.limiter.block(key, seconds, options));
  }

  override async delete(key: Key, options: CallOptions = {}): Promise<boolean> {
    return this.limiter.delete(key, options);
  }

  #listed(key: Key): "white" | "black" | null {
    if (isIn(this.whiteList, key) || isTrue("isWhiteListed", this.isWhiteListed(key))) return "white";
    if (isIn(this.blackList, key) || isTrue("isBlackListed", this.isBlackListed(key))) return "black";
    return null;
  }

  /** The result of a listed key; of another one, that of the limiter. */
  async #unless<Result>(
    listed: "white" | "black" | null,
    work: () => Promise<Result>,
  ): Promise<Result | RateLimiterRes> {
    if (listed === null) return work();
    if (this.runActionAnyway) void counted(work);
    return listed === "white"
      ? new RateLimiterRes(Number.MAX_SAFE_INTEGER, 0, 0)
      : new RateLimiterRes(0, Number.MAX_SAFE_INTEGER, 0);
  }
}

/** The outcome of a listed key is that of its list, whatever becomes of the call. */
async function counted(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch {}
}

function functionOf(name: string, given: IsListed = never): IsListed {
  if (typeof given !== "function") throw new Error(`${name} must be function`);
  return given;
}

function isIn(list: readonly (string | number)[], key: Key): boolean {
  return list.includes(key);
}

/** @throws {InvalidArgumentError} it is a promise, which would list every key */
function isTrue(name: string, answer: unknown): boolean {
  if (typeof (answer as PromiseLike<unknown> | null)?.then === "function")
    throw new InvalidArgumentError(
      name,
      "must return true or false, not a promise: look the lists up beforehand",
    );
  return Boolean(answer);
}
