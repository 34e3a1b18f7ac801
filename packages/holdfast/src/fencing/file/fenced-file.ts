/**
 * FencedFile: a file that is replaced in one step, and only by a holder who was not overtaken.
 *
 * Safe against other processes at the same time, against a process that is paused or killed at any point, and, on file
 * systems that keep the order of fsync, against a power cut. fence-folder.ts explains the rule.
 */
import { dirname, resolve } from "node:path";
import { checkOptions } from "../../arguments.js";
import { InvalidArgumentError } from "../../errors.js";
import { type Random, systemRandom } from "../../time/random.js";
import { checkFenced, type Fenced } from "../fenced.js";
import { FenceFolder } from "./fence-folder.js";
import { type FileSystem, isCode, systemFiles } from "./file-system.js";

export interface FencedFileOptions {
  /** Permissions of the file, less the process's umask. @default 0o666 */
  readonly mode?: number | undefined;
  /** The operations on files, for tests. @default those of Node.js */
  readonly files?: FileSystem | undefined;
  /** Randomness, for tests. @default the system's */
  readonly random?: Random | undefined;
}

export interface FileState {
  /** Null when there is no file. */
  readonly content: Buffer | null;
  /** The token under which exactly this content was written; 0n when it was not written through a fence. */
  readonly fence: bigint;
}

const DEFAULT_MODE = 0o666;

export class FencedFile {
  /** The absolute path of the file. Other programs may read it at any time, and find one complete content. */
  readonly path: string;
  /**
   * The folder in which the fence lives: "<path>.fence". It is never deleted, because a fence that lost its token protects
   * nothing. Delete it only when no holder of an older lease can still write.
   */
  readonly folder: string;
  readonly #fence: FenceFolder;
  readonly #files: FileSystem;
  readonly #mode: number;
  /** Second names of content that this object has put in place, the latest last. */
  #mine: string[] = [];
  #writes: Promise<unknown> = Promise.resolve();

  /** Does not touch the disk. @throws {InvalidArgumentError} */
  constructor(path: string, options: FencedFileOptions = {}) {
    checkOptions("options", options, ["mode", "files", "random"]);
    const { mode = DEFAULT_MODE, files = systemFiles, random = systemRandom } = options;
    if (typeof path !== "string" || path === "") throw new InvalidArgumentError("path", "must be a path");
    if (!Number.isInteger(mode) || mode < 0 || mode > 0o7777)
      throw new InvalidArgumentError("mode", "must be permissions such as 0o644");
    this.path = resolve(path);
    this.folder = `${this.path}.fence`;
    this.#files = files;
    this.#mode = mode;
    this.#fence = new FenceFolder(this.folder, this.path, files, random);
  }

  /**
   * Raises the fence to this holder's token and returns the content, null when there is no file. From then on no
   * older holder can replace it. May be repeated.
   * @throws {StaleTokenError} a newer holder, or another one of the same token, has entered
   * @throws the errors of the file system (EACCES, ENOSPC …); the call may be repeated
   */
  async enter(holder: Fenced): Promise<Buffer | null> {
    checkFenced(holder);
    await this.#prepare();
    await this.#fence.raise(holder);
    const held = await this.#files.hold(this.path);
    await held?.close();
    return held?.content ?? null;
  }

  /**
   * Replaces the file in one step; when this resolves it is safe on the disk. Errors as for `enter`. After an error of
   * the file system the content is the old one or, if the folder could not be made safe after the last step, the new one:
   * the same write may be repeated.
   */
  async write(holder: Fenced, content: Uint8Array | string): Promise<void> {
    checkFenced(holder);
    if (typeof content !== "string" && !(content instanceof Uint8Array))
      throw new InvalidArgumentError("content", "must be text or bytes");
    // Writes run one after the other, so that the clean-up of one does not remove the content of another.
    const write = this.#writes.then(() => this.#replace(holder, content));
    this.#writes = write.catch(() => {});
    await write;
  }

  /** Reads the content and the token of its write. For readers without a lease; holders call `enter`. */
  async read(): Promise<FileState> {
    for (;;) {
      const held = await this.#files.hold(this.path);
      if (held === null) return { content: null, fence: 0n };
      try {
        const fence = await this.#tokenOf(held.inode);
        if (fence !== null) return { content: held.content, fence };
        // Its second name is gone because a newer content is there; or it never had one.
        if ((await this.#files.inode(this.path)) === held.inode) return { content: held.content, fence: 0n };
      } finally {
        await held.close();
      }
    }
  }

  async #prepare(): Promise<void> {
    if ((await this.#fence.entriesIfAny()) !== null) return;
    await this.#files.makeFolder(this.folder);
    await this.#files.sync(dirname(this.path));
  }

  async #replace(holder: Fenced, content: Uint8Array | string): Promise<void> {
    await this.#prepare();
    await this.#fence.raise(holder);
    const { stage, data } = this.#fence.newStage(holder.fence);
    try {
      await this.#files.create(stage, content, this.#mode);
      await this.#files.link(stage, data);
      await this.#files.sync(this.folder);
      await this.#fence.assertNewest(holder);
      await this.#files.rename(stage, this.path);
    } catch (error) {
      const stood = await this.#files.remove(stage);
      const taken = isCode(error, "ENOENT");
      // Otherwise the file may be in place in spite of the error, and needs its second name.
      if (stood || taken) await this.#files.remove(data);
      // A newer holder took the stage away.
      if (taken) await this.#fence.assertNewest(holder);
      throw error;
    }
    this.#mine.push(data);
    await this.#files.sync(dirname(this.path));
    await this.#tidy(holder.fence);
  }

  /** Second names of contents that are no longer in place. */
  async #tidy(token: bigint): Promise<void> {
    const older = (await this.#fence.entries()).filter(
      (entry) => entry.kind === "data" && entry.token < token,
    );
    for (const path of [...older.map((entry) => entry.path), ...this.#mine.slice(0, -1)])
      await this.#files.remove(path);
    this.#mine = this.#mine.slice(-1);
  }

  async #tokenOf(inode: bigint): Promise<bigint | null> {
    for (const { kind, token, path } of (await this.#fence.entriesIfAny()) ?? []) {
      if (kind === "data" && (await this.#files.inode(path)) === inode) return token;
    }
    return null;
  }
}
