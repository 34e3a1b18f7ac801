/** The few operations that a fenced file needs of a file system: a seam, so that a test can stop a writer at each. */
import { constants } from "node:fs";
import { link, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";

/** All paths are absolute. Errors are those of Node.js, with their `code`. */
export interface FileSystem {
  makeFolder(path: string): Promise<void>;
  /** Names in a folder, in any order. @throws ENOENT */
  list(folder: string): Promise<string[]>;
  /** Makes a file that was not there, with its content safe on the disk; leaves none when it fails. @throws EEXIST */
  create(path: string, content: Uint8Array | string, mode: number): Promise<void>;
  /** Gives a file a second name. @throws EEXIST the name is taken @throws ENOENT the file is gone */
  link(from: string, to: string): Promise<void>;
  /** Replaces `to` in one step. @throws ENOENT `from` is gone */
  rename(from: string, to: string): Promise<void>;
  /** Takes a name away. False when it was gone already. */
  remove(path: string): Promise<boolean>;
  /** Reads a file and keeps it open, so that its identity belongs to no other; null when there is none. */
  hold(path: string): Promise<HeldFile | null>;
  /** Identity of a file; null when there is none. */
  inode(path: string): Promise<bigint | null>;
  /** Makes the names in a folder safe on the disk. */
  sync(folder: string): Promise<void>;
}

export interface HeldFile {
  readonly content: Buffer;
  readonly inode: bigint;
  close(): Promise<void>;
}

export const systemFiles: FileSystem = {
  async makeFolder(path) {
    await mkdir(path, { recursive: true });
  },
  list: (folder) => readdir(folder),
  async create(path, content, mode) {
    const file = await open(path, "wx", mode);
    try {
      await file.writeFile(content).then(() => file.sync());
    } catch (error) {
      await unlink(path).catch(() => {}); // on a full disk each try would leave one more
      throw error;
    } finally {
      await file.close();
    }
  },
  link,
  rename,
  async remove(path) {
    return (await orNull(unlink(path).then(() => true))) ?? false;
  },
  async hold(path) {
    const file = await orNull(open(path, constants.O_RDONLY));
    if (file === null) return null;
    try {
      const { ino } = await file.stat({ bigint: true });
      return { content: await file.readFile(), inode: ino, close: () => file.close() };
    } catch (error) {
      await file.close();
      throw error;
    }
  },
  async inode(path) {
    return (await orNull(stat(path, { bigint: true })))?.ino ?? null;
  },
  async sync(folder) {
    // Windows opens no folders; its file systems log the names themselves.
    if (process.platform === "win32") return;
    const handle = await open(folder, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

async function orNull<Value>(promise: Promise<Value>): Promise<Value | null> {
  try {
    return await promise;
  } catch (error) {
    if (isCode(error, "ENOENT")) return null;
    throw error;
  }
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
