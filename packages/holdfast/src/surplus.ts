/** Refuses arguments beyond the last of a method: one that was meant for another noun must not be passed over in silence. */
import { InvalidArgumentError } from "./errors.js";

type Method = (...args: never[]) => unknown;

/** The most arguments of each public method, as its types say. `close()` is handed to listeners, whose arguments say nothing. */
type Most<Noun> = {
  readonly [Name in Exclude<keyof Noun & string, "close"> as Noun[Name] extends Method
    ? Name
    : never]: Noun[Name] extends Method ? Required<Parameters<Noun[Name]>>["length"] : never;
};

/** Gives every method of a class the check. A method without `async` throws, one with it rejects. */
export function refuseSurplus<Noun extends object>(
  noun: { readonly prototype: Noun },
  most: Most<Noun>,
): void {
  for (const [name, count] of Object.entries<number>(most)) {
    const method = Reflect.get(noun.prototype, name) as Method;
    Object.defineProperty(noun.prototype, name, {
      value: within(method, name, count),
      writable: true,
      configurable: true,
    });
  }
}

/** The same for one function. */
export function within<Called extends Method>(method: Called, name: string, most: number): Called {
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
