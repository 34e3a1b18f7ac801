/**
 * Part: code that is loaded when it is first needed, and from then on is there without waiting. So a
 * process that only takes and releases free locks starts with little.
 */
import type { HoldfastError } from "./errors.js";

export class Part<Value> {
  readonly #load: () => Promise<Value>;
  readonly #peek: () => Value | null;
  #value: Value | null = null;
  #loading: Promise<Value> | null = null;

  /** @param peek what there is already */
  constructor(load: () => Promise<Value>, peek: () => Value | null = () => null) {
    this.#load = load;
    this.#peek = peek;
  }

  /** Null until it is loaded. */
  get value(): Value | null {
    this.#value ??= this.#peek();
    return this.#value;
  }

  /** The load that has begun, or is done; null where none has, or it failed. */
  get begun(): Promise<Value> | null {
    return this.value === null ? this.#loading : Promise.resolve(this.value);
  }

  /** The next call tries again. */
  load(): Promise<Value> {
    this.#loading ??= this.#load().then(
      (value) => {
        this.#value = value;
        return value;
      },
      (error) => {
        this.#loading = null;
        throw error;
      },
    );
    return this.#loading;
  }

  /** Calls back in the order of the calls: at once when it is there. */
  use(callback: (value: Value) => void, failed: (error: HoldfastError) => void = () => {}): void {
    const { value } = this;
    if (value === null) this.load().then(callback, failed);
    else callback(value);
  }

  /** What is made of it, once. */
  made<Made>(make: (value: Value) => Made): Part<Made> {
    let made: Made | null = null;
    const once = (value: Value): Made => {
      made ??= make(value);
      return made;
    };
    return new Part(
      () => this.load().then(once),
      () => (this.value === null ? null : once(this.value)),
    );
  }
}
