export { compileValkey } from "./module.js";
export { type ValkeyModule } from "./wasm.js";
export { ValkeyCore, type ValkeyCoreOptions } from "./core.js";
