/** Uses: which methods of the library and which of their options a run has used, by name. */
import { canaryOptions, type RunOptions } from "@holdfast/lab/sim";

type Made = new (...args: never[]) => object;
type Method = (this: unknown, ...args: unknown[]) => unknown;

const head =
  "export function checkOptions(argument: string, options: unknown, known: readonly string[]): void {";
const seam = "holdfastOptions";
/** What the language has: no method of the library. */
const builtIn = new Set(
  [Object, Array, Map, Set, Promise, Error, Date, Uint8Array, AbortSignal, EventTarget, String, Number].map(
    ({ prototype }) => prototype as object,
  ),
);

export class Uses {
  readonly #counts = new Map<string, number>();
  readonly #seen = new WeakSet<object>();

  /** The library, which tells of its uses. */
  async library(): Promise<Required<Pick<RunOptions, "holdfast" | "redlock">>> {
    Reflect.set(globalThis, seam, (known: readonly string[], given: object | null) =>
      this.#note(known, given),
    );
    const to = `${head} Reflect.get(globalThis, "${seam}")?.(known, options);`;
    const change = { file: "arguments.ts", from: head, to };
    const { holdfast, redlock } = await canaryOptions({ rule: "", what: "", seed: 1, change });
    if (!holdfast || !redlock) throw new Error("there is no library");
    return { holdfast: this.#watched(holdfast), redlock: this.#watched(redlock) };
  }

  /** What was there and never used: `Queue.drain`, or `every of [every signal]`. */
  never(): readonly string[] {
    return [...this.#counts].flatMap(([name, count]) => (count === 0 ? [name] : [])).sort();
  }

  #note(known: readonly string[], given: object | null): void {
    for (const name of known)
      this.#count(`${name} of [${known.join(" ")}]`, given && Reflect.get(given, name) !== undefined ? 1 : 0);
  }

  #count(name: string, times: number): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + times);
  }

  #watched<Base>(base: Base): Base {
    const watch = (made: object): void => {
      this.#look(made);
      for (const part of Object.values(made)) this.#look(part);
    };
    class Watched extends (base as Made) {
      constructor(...args: never[]) {
        super(...args);
        watch(this);
      }
    }
    return Watched as Base;
  }

  /** Something that a caller was given: from now on its methods tell when they are called. */
  #look(value: unknown): unknown {
    if (typeof value === "function") this.#wrapParts(value);
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof Promise) {
      value.then(
        (given) => this.#look(given),
        () => {},
      );
      return value;
    }
    let prototype = Object.getPrototypeOf(value) as object | null;
    for (; prototype && !builtIn.has(prototype); prototype = Object.getPrototypeOf(prototype))
      this.#wrap(prototype);
    return value;
  }

  /** A function that has methods, as `hf.once`. */
  #wrapParts(value: object & { readonly name?: string }): void {
    if (this.#seen.has(value)) return;
    this.#seen.add(value);
    for (const [name, part] of Object.entries(value)) {
      if (typeof part !== "function") continue;
      this.#count(`${value.name}.${name}`, 0);
      Reflect.set(value, name, this.#telling(`${value.name}.${name}`, part as Method));
    }
  }

  #wrap(prototype: object): void {
    if (this.#seen.has(prototype)) return;
    this.#seen.add(prototype);
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (name === "constructor" || !property.configurable) continue;
      const label = `${prototype.constructor.name}.${name}`;
      const { value, get } = property;
      if (typeof value === "function")
        Object.defineProperty(prototype, name, { ...property, value: this.#telling(label, value as Method) });
      else if (get)
        Object.defineProperty(prototype, name, { ...property, get: this.#telling(label, get as Method) });
      else continue;
      this.#count(label, 0);
    }
  }

  #telling(label: string, method: Method): Method {
    const uses = this;
    const telling = function (this: unknown, ...args: unknown[]): unknown {
      uses.#count(label, 1);
      return uses.#look(method.apply(this, args));
    };
    return Object.defineProperty(telling, "name", { value: method.name });
  }
}
