/**
 * The file imports, over the files in memory. Only what Valkey calls for its configuration file,
 * RDB, append-only file and cluster state is here; permissions and times do not exist.
 */
import { type DescriptorTable, type OpenFile, type OpenNode, rootDescriptor } from "./descriptors.js";
import type { EngineMemory } from "./memory.js";
import { type MemoryFiles, truncate, writeAt } from "./memory-files.js";
import { errno } from "./wasi-errno.js";
import type { ImportTable } from "./wasm.js";

const randomDevice = "dev/urandom";
const fileType = { device: 2, folder: 3, regular: 4 } as const;
const openFlag = { create: 1, exclusive: 4, truncate: 8 } as const;
const appendFlag = 1;
const seekFrom = { start: 0, current: 1 } as const;
const allRights = 0x1fffffff;
const filestatBytes = 64;
const fdstatBytes = 24;
const direntBytes = 24;

export interface FilePorts {
  readonly memory: () => EngineMemory;
  readonly files: MemoryFiles;
  readonly descriptors: DescriptorTable;
  readonly random: (target: Uint8Array) => void;
  /** Receives what the engine prints, in pieces. */
  readonly print: (text: string) => void;
}

export function fileImports(ports: FilePorts): ImportTable {
  return { ...descriptorImports(ports), ...transferImports(ports), ...pathImports(ports) };
}

/** Calls on an open descriptor that move no content. */
function descriptorImports({ memory, descriptors, files }: FilePorts): ImportTable {
  const known = (fd: number) => (fd < rootDescriptor || descriptors.get(fd) ? errno.success : errno.badDescriptor);
  return {
    fd_prestat_get: (fd: number, out: number) => {
      if (fd !== rootDescriptor) return errno.badDescriptor;
      const words = memory().words;
      words[out >>> 2] = 0;
      words[(out >>> 2) + 1] = 1;
      return errno.success;
    },
    fd_prestat_dir_name: (_fd: number, out: number, _length: number) => {
      memory().bytes[out >>> 0] = 0x2f;
      return errno.success;
    },
    fd_fdstat_get: (fd: number, out: number) => {
      const node = descriptors.get(fd);
      if (node === undefined && fd > 2) return errno.badDescriptor;
      const view = memory();
      view.bytes.fill(0, out >>> 0, (out >>> 0) + fdstatBytes);
      view.bytes[out >>> 0] = typeOf(node);
      view.bytes[(out >>> 0) + 2] = node?.kind === "file" && node.isAppending ? appendFlag : 0;
      view.writeU64(out + 8, allRights);
      view.writeU64(out + 16, allRights);
      return errno.success;
    },
    fd_fdstat_set_flags: known,
    fd_sync: known,
    fd_filestat_get: (fd: number, out: number) => {
      const node = descriptors.get(fd);
      if (node === undefined && fd > 2) return errno.badDescriptor;
      writeFilestat(memory(), out, typeOf(node), node?.kind === "file" ? node.node.size : 0);
      return errno.success;
    },
    fd_filestat_set_size: (fd: number, size: bigint) => {
      const file = descriptors.file(fd);
      if (file === undefined) return errno.badDescriptor;
      truncate(file.node, Number(size));
      return errno.success;
    },
    fd_seek: (fd: number, delta: bigint, whence: number, out: number) => {
      const file = descriptors.file(fd);
      if (file === undefined) return errno.badDescriptor;
      const base = whence === seekFrom.start ? 0 : whence === seekFrom.current ? file.offset : file.node.size;
      const offset = base + Number(delta);
      if (offset < 0) return errno.invalid;
      file.offset = offset;
      memory().writeU64(out, offset);
      return errno.success;
    },
    fd_close: (fd: number) => (descriptors.close(fd) ? errno.success : errno.badDescriptor),
    fd_renumber: (from: number, to: number) => (descriptors.renumber(from, to) ? errno.success : errno.badDescriptor),
    fd_readdir: (fd: number, out: number, length: number, cookie: bigint, usedOut: number) => {
      const node = descriptors.get(fd);
      if (node?.kind !== "folder") return errno.notFolder;
      const view = memory();
      const names = files.names(node.path);
      const prefix = node.path === "/" ? "/" : `${node.path}/`;
      const listing = writeListing(names, Number(cookie), (name) =>
        files.isFolder(prefix + name) ? fileType.folder : fileType.regular,
      );
      const used = Math.min(length, listing.length);
      view.bytes.set(listing.subarray(0, used), out >>> 0);
      view.words[usedOut >>> 2] = used;
      return errno.success;
    },
  };
}

/** Calls that move content. `vectors` points at pairs of (address, length). */
function transferImports({ memory, descriptors, random, print }: FilePorts): ImportTable {
  const eachVector = (vectors: number, count: number, move: (start: number, length: number) => number): number => {
    let total = 0;
    for (let i = 0; i < count; i++) {
      const at = (vectors >>> 2) + i * 2;
      const words = memory().words;
      const length = (words[at + 1] as number) >>> 0;
      const moved = move((words[at] as number) >>> 0, length);
      total += moved;
      if (moved < length) break;
    }
    return total;
  };
  const readFile = (file: OpenFile, offset: number, start: number, length: number): number => {
    const part = file.node.bytes.subarray(offset, Math.min(offset + length, file.node.size));
    memory().bytes.set(part, start);
    return part.length;
  };
  return {
    fd_read: (fd: number, vectors: number, count: number, readOut: number) => {
      const node = descriptors.get(fd);
      if (node === undefined || node.kind === "folder") return errno.badDescriptor;
      const total = eachVector(vectors, count, (start, length) => {
        if (node.kind === "random") {
          random(memory().bytes.subarray(start, start + length));
          return length;
        }
        const moved = readFile(node, node.offset, start, length);
        node.offset += moved;
        return moved;
      });
      memory().words[readOut >>> 2] = total;
      return errno.success;
    },
    fd_pread: (fd: number, vectors: number, count: number, offset: bigint, readOut: number) => {
      const file = descriptors.file(fd);
      if (file === undefined) return errno.badDescriptor;
      let at = Number(offset);
      const total = eachVector(vectors, count, (start, length) => {
        const moved = readFile(file, at, start, length);
        at += moved;
        return moved;
      });
      memory().words[readOut >>> 2] = total;
      return errno.success;
    },
    fd_write: (fd: number, vectors: number, count: number, writtenOut: number) => {
      const file = descriptors.file(fd);
      if (file === undefined && (fd < 1 || fd > 2)) return errno.badDescriptor;
      const total = eachVector(vectors, count, (start, length) => {
        if (file === undefined) print(memory().text(start, length));
        else {
          if (file.isAppending) file.offset = file.node.size;
          writeAt(file.node, file.offset, memory().bytes.subarray(start, start + length));
          file.offset += length;
        }
        return length;
      });
      memory().words[writtenOut >>> 2] = total;
      return errno.success;
    },
  };
}

/** Calls that name a path. Every path is below the root folder, whatever descriptor it starts from. */
function pathImports({ memory, descriptors, files }: FilePorts): ImportTable {
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
    path_rename: (fromFolder: number, from: number, fromLength: number, toFolder: number, to: number, toLength: number) =>
      files.rename(pathAt(fromFolder, from, fromLength), pathAt(toFolder, to, toLength)) ? errno.success : errno.noEntry,
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

function typeOf(node: OpenNode | undefined): number {
  if (node?.kind === "folder") return fileType.folder;
  return node?.kind === "file" ? fileType.regular : fileType.device;
}

function writeFilestat(memory: EngineMemory, out: number, type: number, size: number): void {
  const start = out >>> 0;
  memory.bytes.fill(0, start, start + filestatBytes);
  memory.bytes[start + 16] = type;
  memory.writeU64(out + 24, 1);
  memory.writeU64(out + 32, size);
}

/** Directory entries from `cookie` on; the caller cuts them off where its buffer ends. */
function writeListing(names: readonly string[], cookie: number, typeOfName: (name: string) => number): Uint8Array {
  const encoder = new TextEncoder();
  const entries = names.slice(cookie).map((name, i) => {
    const text = encoder.encode(name);
    const entry = new Uint8Array(direntBytes + text.length);
    const view = new DataView(entry.buffer);
    view.setUint32(0, cookie + i + 1, true);
    view.setUint32(16, text.length, true);
    view.setUint8(20, typeOfName(name));
    entry.set(text, direntBytes);
    return entry;
  });
  const listing = new Uint8Array(entries.reduce((sum, entry) => sum + entry.length, 0));
  let at = 0;
  for (const entry of entries) {
    listing.set(entry, at);
    at += entry.length;
  }
  return listing;
}
