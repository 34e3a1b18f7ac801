/**
 * File imports that ask about an open descriptor or change it, without moving content (wasi-transfer.ts)
 * or naming a path (wasi-paths.ts). Permissions and times do not exist: the files are in memory.
 */
import { type DescriptorTable, type OpenNode, rootDescriptor } from "./descriptors.js";
import type { EngineMemory } from "./memory.js";
import { type MemoryFiles, truncate } from "./memory-files.js";
import { errno } from "./wasi-errno.js";
import type { ImportTable } from "./wasm.js";

export const fileType = { device: 2, folder: 3, regular: 4 } as const;
export const appendFlag = 1;
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

export function descriptorImports({ memory, descriptors, files }: FilePorts): ImportTable {
  const known = (fd: number) =>
    fd < rootDescriptor || descriptors.get(fd) ? errno.success : errno.badDescriptor;
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
    fd_renumber: (from: number, to: number) =>
      descriptors.renumber(from, to) ? errno.success : errno.badDescriptor,
    ...listingImports(memory, descriptors, files),
  };
}

function listingImports(
  memory: () => EngineMemory,
  descriptors: DescriptorTable,
  files: MemoryFiles,
): ImportTable {
  return {
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

function typeOf(node: OpenNode | undefined): number {
  if (node?.kind === "folder") return fileType.folder;
  return node?.kind === "file" ? fileType.regular : fileType.device;
}

export function writeFilestat(memory: EngineMemory, out: number, type: number, size: number): void {
  const start = out >>> 0;
  memory.bytes.fill(0, start, start + filestatBytes);
  memory.bytes[start + 16] = type;
  memory.writeU64(out + 24, 1);
  memory.writeU64(out + 32, size);
}

/** Directory entries from `cookie` on; the caller cuts them off where its buffer ends. */
function writeListing(
  names: readonly string[],
  cookie: number,
  typeOfName: (name: string) => number,
): Uint8Array {
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
