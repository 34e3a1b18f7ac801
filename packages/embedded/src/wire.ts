/**
 * The messages between the engine's thread and its owner. Errors are sent as plain data, because a cloned error loses its class
 * and its fields.
 */
import {
  BootError,
  EmbeddedError,
  EngineExitedError,
  ListenError,
  NotRunningError,
  PortInUseError,
  SaveError,
} from "./errors.js";
import type { FileEntries, ServerSpec } from "./server.js";
import type { ValkeyModule } from "./wasm.js";

/** The module follows in a message: the thread starts up while it is still being compiled. */
export interface WorkerInput extends Omit<ServerSpec, "module"> {
  readonly isLogWanted: boolean;
}

export type ToWorker =
  | { readonly type: "start"; readonly module: ValkeyModule }
  | { readonly type: "closeSaved" | "abandonSave" };

export type FromWorker =
  | { readonly type: "ready"; readonly port: number }
  | { readonly type: "failed"; readonly error: WireError }
  | { readonly type: "exited"; readonly error: WireError; readonly files: FileEntries }
  | { readonly type: "log"; readonly line: string }
  | { readonly type: "saved"; readonly files: FileEntries }
  | { readonly type: "notSaved"; readonly error: WireError };

export interface WireError {
  readonly code: string;
  readonly message: string;
  readonly host: string;
  readonly port: number;
  readonly log: readonly string[];
  readonly exitCode: number | null;
  readonly cause: unknown;
}

export function toWire(error: unknown): WireError {
  const cause = error instanceof Error ? error.cause : undefined;
  return {
    code: error instanceof EmbeddedError ? error.code : "",
    message: error instanceof Error ? error.message : String(error),
    host: error instanceof PortInUseError || error instanceof ListenError ? error.host : "",
    port: error instanceof PortInUseError || error instanceof ListenError ? error.port : 0,
    log: error instanceof BootError ? error.log : [],
    exitCode: error instanceof EngineExitedError ? error.exitCode : null,
    cause:
      cause instanceof Error ? { name: cause.name, message: cause.message, stack: cause.stack } : undefined,
  };
}

export function fromWire(wire: WireError): Error {
  const options = wire.cause === undefined ? {} : { cause: causeFrom(wire.cause) };
  switch (wire.code) {
    case "PORT_IN_USE":
      return new PortInUseError(wire.host, wire.port, options);
    case "LISTEN_FAILED":
      return new ListenError(wire.host, wire.port, options);
    case "BOOT_FAILED":
      return withMessage(new BootError("", wire.log, options), wire.message);
    case "ENGINE_EXITED":
      return new EngineExitedError(wire.message, wire.exitCode, options);
    case "SAVE_FAILED":
      return new SaveError(wire.message, options);
    case "NOT_RUNNING":
      return new NotRunningError(wire.message);
    default:
      return new Error(wire.message, options);
  }
}

function causeFrom(cause: unknown): Error {
  const { name, message, stack } = cause as { name: string; message: string; stack?: string };
  const error = new Error(message);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}

function withMessage<T extends Error>(error: T, message: string): T {
  error.message = message;
  return error;
}
