/**
 * FenceFolder: the folder next to a fenced file, and the rule by which concurrent writers need no lock.
 *
 * With a lock file, a writer would have to know whether the holder is dead or only paused, and no writer can. Here the file
 * system carries out every step atomically, and the last step of a paused writer fails because a newer writer has removed its
 * source:
 *
 *   fence.<token>          the holder of the token; made by link(), so that only one holder can have an equal token
 *   draft.<token>.<name>   such a mark before it has its name
 *   stage.<token>.<name>   content that is about to be renamed to the file
 *   data.<token>.<name>    a second name of the same content, by which a reader knows its token
 *
 * A writer makes its stage, and then looks for newer marks. A newcomer makes its mark, and then removes older stages.
 * Whichever order these four come in, the older writer sees the mark, or its rename finds no stage.
 */
import { join } from "node:path";
import { StaleTokenError } from "../../errors.js";
import type { Random } from "../../time/random.js";
import type { Fenced } from "../fenced.js";
import { type FileSystem, isCode } from "./file-system.js";

type Kind = "fence" | "draft" | "stage" | "data";

interface Entry {
  readonly kind: Kind;
  readonly token: bigint;
  readonly path: string;
}

/** Only the user of the folder has to read a mark. */
const MARK_MODE = 0o644;

export class FenceFolder {
  readonly path: string;
  readonly #resource: string;
  readonly #files: FileSystem;
  readonly #random: Random;

  constructor(path: string, resource: string, files: FileSystem, random: Random) {
    this.path = path;
    this.#resource = resource;
    this.#files = files;
    this.#random = random;
  }

  /** Raises the fence: when this resolves, no older holder can replace the file any more. @throws {StaleTokenError} */
  async raise(holder: Fenced): Promise<void> {
    while (!(await this.#mark(holder))) {
      // A newer holder removed what this one was about to use: the next look finds it, and ends this.
    }
    // Safe on the disk before anything is done under it: a fence that a power cut takes back lets old holders in.
    await this.#files.sync(this.path);
    const entries = await this.assertNewest(holder);
    for (const { kind, token, path } of entries) {
      if (kind !== "data" && token < holder.fence) await this.#files.remove(path);
    }
  }

  /** @returns what is in the folder @throws {StaleTokenError} a newer holder has made its mark */
  async assertNewest(holder: Fenced): Promise<Entry[]> {
    const entries = await this.entries();
    const newest = newestMark(entries);
    if (newest && newest.token > holder.fence)
      throw new StaleTokenError(this.#resource, holder.fence, newest.token);
    return entries;
  }

  /** What is in the folder; null when there is none. */
  async entriesIfAny(): Promise<Entry[] | null> {
    try {
      return await this.entries();
    } catch (error) {
      if (isCode(error, "ENOENT")) return null;
      throw error;
    }
  }

  async entries(): Promise<Entry[]> {
    return (await this.#files.list(this.path)).flatMap((name) => {
      const [, kind, digits] = /^(fence|draft|stage|data)\.(\d+)(?:\.|$)/.exec(name) ?? [];
      if (kind === undefined || digits === undefined) return [];
      return [{ kind: kind as Kind, token: BigInt(digits), path: join(this.path, name) }];
    });
  }

  /** Paths of a new stage and of its second name. */
  newStage(token: bigint): { readonly stage: string; readonly data: string } {
    const name = `${token}.${this.#random.id()}`;
    return { stage: join(this.path, `stage.${name}`), data: join(this.path, `data.${name}`) };
  }

  /** False when it has to be tried again. */
  async #mark(holder: Fenced): Promise<boolean> {
    const { fence, id } = holder;
    const newest = newestMark(await this.assertNewest(holder));
    const mark = join(this.path, `fence.${fence}`);
    if (newest?.token !== fence) {
      const draft = join(this.path, `draft.${fence}.${this.#random.id()}`);
      await this.#files.create(draft, id, MARK_MODE);
      try {
        await this.#files.link(draft, mark);
        return true;
      } catch (error) {
        if (isCode(error, "ENOENT")) return false;
        if (!isCode(error, "EEXIST")) throw error;
      } finally {
        await this.#files.remove(draft);
      }
    }
    const held = await this.#files.hold(mark);
    if (held === null) return false;
    await held.close();
    if (held.content.toString() !== id) throw new StaleTokenError(this.#resource, fence, fence);
    return true;
  }
}

function newestMark(entries: readonly Entry[]): Entry | undefined {
  const marks = entries.filter(({ kind }) => kind === "fence");
  return marks.reduce<Entry | undefined>(
    (top, mark) => (top && top.token > mark.token ? top : mark),
    undefined,
  );
}
