/**
 * Part: code that is loaded when it is first needed, and from then on is there without waiting. So a
 * process that only takes and releases free locks starts with little.
 */
import { HoldfastError, NotLoadedError } from "./errors.js";

export class Part<Value> {
  readonly #load: () => Promise<Value>;
  #value: Value | null;
  #loading: Promise<Value> | null;

  /** @param value what there is to have already */
  constructor(load: () => Promise<Value>, value: Value | null = null) {
    this.#load = load;
    this.#value = value;
    this.#loading = value && Promise.resolve(value);
  }

  /** Null until it is loaded. */
  get value(): Value | null {
    return this.#value;
  }

  /** @throws {NotLoadedError} the next call tries again */
  load(): Promise<Value> {
    this.#loading ??= this.#load().then(
      (value) => {
        this.#value = value;
        return value;
      },
      (error) => {
        this.#loading = null;
        throw error instanceof HoldfastError ? error : new NotLoadedError(error);
      },
    );
    return this.#loading;
  }

  /** The load that has begun; null where none has, or it failed. */
  get begun(): Promise<Value> | null {
    return this.#loading;
  }

  /** Calls back in the order of the calls: at once when it is there. */
  use(callback: (value: Value) => void, failed: (error: HoldfastError) => void = () => {}): void {
    if (this.#value) callback(this.#value);
    else this.load().then(callback, failed);
  }

  /** What is made of it, once. */
  made<Made>(make: (value: Value) => Made): Part<Made> {
    return new Part(() => this.load().then(make), this.#value && make(this.#value));
  }
}
