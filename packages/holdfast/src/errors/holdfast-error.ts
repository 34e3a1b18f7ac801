/** HoldfastError: the class of every error of the library. */

/** Registered, so that every copy of the library marks its errors with the same symbol. */
const MARK = Symbol.for("holdfast.error");

export abstract class HoldfastError extends Error {
  static {
    Object.defineProperty(HoldfastError.prototype, MARK, { value: true });
  }

  /** Stable across versions: branch on this, never on the message. */
  abstract readonly code: string;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }

  /** For logs: the name, the message and the fields. A bigint becomes its decimal digits. The stack is left out. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { name, code, message } = this;
    try {
      return JSON.parse(JSON.stringify(Object.assign({ name, code, message }, this), bigintAsText));
    } catch {
      // A field has a value of the program that is not JSON.
      return { name, code, message };
    }
  }

  /** The errors of another copy of the library are recognised as well. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: the class beside `instanceof` may be a subclass.
    return isInstance(this, value);
  }
}

/**
 * A process may have several copies of these classes: one that was imported, one that was required, one in a bundle.
 * An error of another copy is recognised by its code, so a class without a code of its own recognises none of them.
 */
function isInstance(asked: object, value: unknown): boolean {
  if (Function.prototype[Symbol.hasInstance].call(asked, value)) return true;
  if (typeof value !== "object" || value === null || !(MARK in value)) return false;
  if (asked === HoldfastError) return true;
  return Object.hasOwn(asked, "code") && "code" in asked && "code" in value && value.code === asked.code;
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
