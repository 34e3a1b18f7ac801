/**
 * A file system in memory where there is one, without fsync and without the way through the thread pool, for tests that
 * walk through thousands of orders, one operation at a time: it takes a fifth of the time. Nothing there cuts the
 * power, and the operations of the library have tests of their own, on a disk, alone and among processes.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileSystem } from "holdfast/fencing/file";

/** On Linux, the file system in memory. */
const MEMORY = "/dev/shm";

/** A new one, for these operations. */
export function quickFolder(): string {
  return mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "holdfast-file-"));
}

export const quickFiles: FileSystem = {
  makeFolder: async (path) => void mkdirSync(path, { recursive: true }),
  list: async (folder) => readdirSync(folder),
  create: async (path, content, mode) => writeFileSync(path, content, { flag: "wx", mode }),
  link: async (from, to) => linkSync(from, to),
  rename: async (from, to) => renameSync(from, to),
  remove: async (path) => orNull(() => unlinkSync(path)) !== null,
  async hold(path) {
    const file = orNull(() => openSync(path, "r"));
    if (file === null) return null;
    const { ino: inode } = fstatSync(file, { bigint: true });
    return { content: readFileSync(file), inode, close: async () => closeSync(file) };
  },
  inode: async (path) => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null,
  sync: async () => {},
};

/** Null: it is not there. */
function orNull<Value>(operation: () => Value): Value | null {
  try {
    return operation();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
