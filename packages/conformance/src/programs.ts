/** The programs of others that some suites need: where each is, and what a suite says without it. */

/** As it is found on PATH. */
export type ProgramName =
  | "redis-server"
  | "valkey-server"
  | "openssl"
  | "nginx"
  | "postgres"
  | "mariadbd"
  | "bash"
  | "zsh"
  | "fish"
  | "script"
  | "gcc";

/** The variable with the path of a program: HOLDFAST_REDIS_SERVER. Set to nothing, it says that there is none. */
export function variableOf(name: ProgramName): string {
  return `HOLDFAST_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** The path of a program; an empty text where there is none. */
export function program(name: ProgramName): string {
  return process.env[variableOf(name)] ?? "";
}

/** The path of the first that is there; an empty text where none is. */
export function anyProgram(...names: readonly ProgramName[]): string {
  return names.map(program).find((path) => path !== "") ?? "";
}

type Declare = (title: string, ...rest: never[]) => unknown;
type Each = (...rows: never[]) => Declare;
type Skipping = { readonly skip: Declare & { readonly each: Each } };

/**
 * `describe` or `test` of a test runner, for what needs all of these programs. Without one of them the suite is skipped, and its
 * title ends with the reason, which a run counts at its end: `on a real server (no redis-server)`.
 */
export function needing<Suite extends Declare>(
  declare: Suite & Skipping,
  ...names: readonly ProgramName[]
): Suite {
  const missing = names.filter((name) => program(name) === "");
  return missing.length === 0 ? declare : skippedFor(declare, `no ${missing.join(", no ")}`);
}

/** As `needing`, for any one of them. */
export function needingAny<Suite extends Declare>(
  declare: Suite & Skipping,
  ...names: readonly ProgramName[]
): Suite {
  return anyProgram(...names) === "" ? skippedFor(declare, `no ${names.join(" or ")}`) : declare;
}

/** `describe` or `test` that skips, for this reason. */
export function skippedFor<Suite extends Declare>({ skip }: Suite & Skipping, reason: string): Suite {
  const titled =
    (declare: Declare): Declare =>
    (title, ...rest) =>
      declare(`${title} (${reason})`, ...rest);
  const each: Each = (...rows) => titled(skip.each(...rows));
  return Object.assign(titled(skip), { each }) as unknown as Suite;
}
