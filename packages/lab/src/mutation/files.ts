/** Files that are written whole or not at all. */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const half = `${file}.${process.pid}`;
  writeFileSync(half, text);
  renameSync(half, file);
}
