/** File imports that name a path: open, create, look up, rename, remove. */
import type { OpenNode } from "./descriptors.js";
import { type MemoryFiles, truncate } from "./memory-files.js";
import { appendFlag, type FilePorts, fileType, writeFilestat } from "./wasi-descriptors.js";
import { errno } from "./wasi-errno.js";
import type { ImportTable } from "./wasm.js";

const randomDevice = "dev/urandom";
const openFlag = { create: 1, exclusive: 4, truncate: 8 } as const;

/** Every path is below the root folder, whatever descriptor it starts from. */
export function pathImports({ memory, descriptors, files }: FilePorts): ImportTable {
  const pathAt = (folder: number, pointer: number, length: number): string => {
    const from = descriptors.get(folder);
    return `${from?.kind === "folder" ? from.path : ""}/${memory().text(pointer, length)}`;
  };
  return {
    path_open: (
      folder: number,
      _lookup: number,
      pointer: number,
      length: number,
      openFlags: number,
      _rights: bigint,
      _inherited: bigint,
      fdFlags: number,
      fdOut: number,
    ) => {
      const opened = openPath(files, pathAt(folder, pointer, length), openFlags, fdFlags);
      if (typeof opened === "number") return opened;
      memory().words[fdOut >>> 2] = descriptors.open(opened);
      return errno.success;
    },
    path_create_directory: (folder: number, pointer: number, length: number) => {
      const path = pathAt(folder, pointer, length);
      if (files.isFolder(path) || files.node(path)) return errno.exists;
      files.createFolder(path);
      return errno.success;
    },
    path_filestat_get: (folder: number, _lookup: number, pointer: number, length: number, out: number) => {
      const path = pathAt(folder, pointer, length);
      const node = files.node(path);
      if (node === undefined && !files.isFolder(path)) return errno.noEntry;
      writeFilestat(memory(), out, node ? fileType.regular : fileType.folder, node?.size ?? 0);
      return errno.success;
    },
    path_rename: (
      fromFolder: number,
      from: number,
      fromLength: number,
      toFolder: number,
      to: number,
      toLength: number,
    ) =>
      files.rename(pathAt(fromFolder, from, fromLength), pathAt(toFolder, to, toLength))
        ? errno.success
        : errno.noEntry,
    path_unlink_file: (folder: number, pointer: number, length: number) =>
      files.remove(pathAt(folder, pointer, length)) ? errno.success : errno.noEntry,
  };
}

/** The opened node, or an error number. */
function openPath(files: MemoryFiles, path: string, openFlags: number, fdFlags: number): OpenNode | number {
  if (path.endsWith(randomDevice)) return { kind: "random" };
  if (files.isFolder(path)) return { kind: "folder", path };
  const existing = files.node(path);
  if (existing === undefined && (openFlags & openFlag.create) === 0) return errno.noEntry;
  if (existing !== undefined && (openFlags & openFlag.exclusive) !== 0) return errno.exists;
  const node = existing ?? files.create(path);
  if ((openFlags & openFlag.truncate) !== 0) truncate(node, 0);
  return { kind: "file", node, offset: 0, isAppending: (fdFlags & appendFlag) !== 0 };
}
