/**
 * Every error of this package: one class per cause, a stable `code`, and a message that says what
 * happened and what to do about it.
 */

export type EmbeddedErrorCode =
  | "INVALID_OPTION"
  | "PORT_IN_USE"
  | "LISTEN_FAILED"
  | "ENGINE_FILE"
  | "BOOT_FAILED"
  | "ENGINE_EXITED"
  | "NOT_RUNNING"
  | "SAVE_FAILED";

export class EmbeddedError extends Error {
  readonly code: EmbeddedErrorCode;

  constructor(code: EmbeddedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** An option is unknown, of the wrong type or out of range. Nothing was started. */
export class InvalidOptionError extends EmbeddedError {
  readonly option: string;

  constructor(option: string, message: string) {
    super("INVALID_OPTION", message);
    this.option = option;
  }
}

/** Another socket already listens on the asked address. */
export class PortInUseError extends EmbeddedError {
  readonly host: string;
  readonly port: number;

  constructor(host: string, port: number, options?: ErrorOptions) {
    super(
      "PORT_IN_USE",
      `Port ${port} on ${host} is in use. Choose another port, or 0 for any free one.`,
      options,
    );
    this.host = host;
    this.port = port;
  }
}

/** The address cannot be listened on for another reason: no permission, no such interface. */
export class ListenError extends EmbeddedError {
  readonly host: string;
  readonly port: number;

  constructor(host: string, port: number, options?: ErrorOptions) {
    const reason = options?.cause instanceof Error ? options.cause.message : "unknown reason";
    super(
      "LISTEN_FAILED",
      `Cannot listen on ${host} port ${port}: ${reason}. Check "host" and "port".`,
      options,
    );
    this.host = host;
    this.port = port;
  }
}

/** valkey.wasm is missing, or is not the build this package was written for. */
export class EngineFileError extends EmbeddedError {
  readonly path: string;

  constructor(path: string, message: string, options?: ErrorOptions) {
    super("ENGINE_FILE", message, options);
    this.path = path;
  }
}

/** The engine refused to start, most often because of a line in `config`. `log` holds its last words. */
export class BootError extends EmbeddedError {
  readonly log: readonly string[];

  constructor(message: string, log: readonly string[], options?: ErrorOptions) {
    const words = log.length > 0 ? ` Its last words: ${log.join(" | ")}` : "";
    super("BOOT_FAILED", `${message}${words}`, options);
    this.log = log;
  }
}

/**
 * The engine is gone: SHUTDOWN (`exitCode` 0), a fatal error of its own (another number), or a trap
 * such as running out of memory (`exitCode` null, the trap is the `cause`).
 */
export class EngineExitedError extends EmbeddedError {
  readonly exitCode: number | null;

  constructor(message: string, exitCode: number | null, options?: ErrorOptions) {
    super("ENGINE_EXITED", message, options);
    this.exitCode = exitCode;
  }
}

/** The call needs a running engine, and the engine is not running. */
export class NotRunningError extends EmbeddedError {
  constructor(message: string) {
    super("NOT_RUNNING", message);
  }
}

/** The data could not be carried over a restart. The engine was left as it was. */
export class SaveError extends EmbeddedError {
  constructor(message: string, options?: ErrorOptions) {
    super("SAVE_FAILED", message, options);
  }
}
