export type { ValkeyConnection, ValkeyPeer } from "./connection.js";
export { ValkeyCore, type ValkeyCoreOptions } from "./core.js";
export {
  EmbeddedValkey,
  type EmbeddedValkeyEvents,
  type EmbeddedValkeyStats,
  type RestartOptions,
} from "./embedded.js";
export {
  BootError,
  EmbeddedError,
  type EmbeddedErrorCode,
  EngineExitedError,
  EngineFileError,
  InvalidOptionError,
  ListenError,
  NotRunningError,
  PortInUseError,
  SaveError,
} from "./errors.js";
export type { ValkeyHooks } from "./host.js";
export { MemoryFiles } from "./memory-files.js";
export { compileValkey } from "./module.js";
export type { EmbeddedValkeyOptions } from "./options.js";
export {
  type NodeCopy,
  type NodeState,
  type PromoteOptions,
  type RestartWith,
  SimulatedValkey,
  type SimulatedValkeyOptions,
} from "./simulated.js";
export { SimulatedClock } from "./simulated-clock.js";
export type { ValkeySnapshot } from "./snapshot.js";
export type { ValkeyClock } from "./wasi.js";
export type { ValkeyModule } from "./wasm.js";
