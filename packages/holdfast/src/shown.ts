/** Shown: the text by which `console.log` shows an object of the library, under its public name and with its public facts. */

/** Node.js calls the method with this name. */
export const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom") as never;

/** The depth that is left, the options of the call, and Node's own function. */
export type InspectArguments = [
  depth: number,
  options: object,
  inspect: (value: unknown, options: object) => string,
];

export function shown(title: string, facts: object, [depth, options, inspect]: InspectArguments): string {
  return depth < 0 ? `[${title}]` : `${title} ${inspect(facts, { ...options, depth })}`;
}
