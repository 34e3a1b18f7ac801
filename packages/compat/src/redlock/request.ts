/** Checks of what a caller of a Redlock asks for. */
import { InvalidArgumentError } from "holdfast";
import { NotPortedError } from "../not-ported-error.js";

/** @throws {InvalidArgumentError} */
export function checkDuration(duration: number): void {
  if (Math.floor(duration) !== duration) {
    throw new InvalidArgumentError("Duration", "must be an integer value in milliseconds.");
  }
  if (!Number.isFinite(duration) || duration < 1) {
    throw new InvalidArgumentError("Duration", `must be 1 ms or more, and finite, not ${duration}`);
  }
}

/** The resources, each once. The originals take a number for its digits. @throws {InvalidArgumentError} */
export function namesOf(resources: readonly string[] | string): string[] {
  const given: readonly unknown[] = Array.isArray(resources) ? resources : [resources];
  const names = [
    ...new Set(given.map((name) => (typeof name === "number" ? String(name) : (name as string)))),
  ];
  if (names.length === 0) throw new InvalidArgumentError("resources", "must name at least one resource");
  return names;
}

/** @param scripts options that hold the original's own scripts @throws {NotPortedError} one of them is given */
export function checkNoScripts(scripts: readonly unknown[]): void {
  if (scripts.some((script) => script !== undefined)) {
    throw new NotPortedError("Redlock was given scripts, and holdfast has its own: leave them out");
  }
}

const SCRIPTS_OF_VERSION_4 = ["lockScript", "unlockScript", "extendScript"];

/**
 * A program that was written for version 4 learns it at once: a callback would never be called.
 * @throws {NotPortedError} the settings are a callback, or have a script
 */
export function checkVersion(settings: unknown): void {
  if (typeof settings === "function") throw ofVersion4("a callback");
  const given = (settings ?? {}) as Record<string, unknown>;
  const script = SCRIPTS_OF_VERSION_4.find((name) => given[name] !== undefined);
  if (script) throw ofVersion4(script);
}

export function ofVersion4(feature: string): NotPortedError {
  return new NotPortedError(
    `${feature} is of redlock 4, and this module has the API of redlock 5: use @holdfast/compat/redlock-4`,
  );
}
