/** File imports that move content, and the engine's log, which is what it writes to descriptors 1 and 2. */
import type { OpenFile } from "./descriptors.js";
import type { EngineMemory } from "./memory.js";
import { writeAt } from "./memory-files.js";
import type { FilePorts } from "./wasi-descriptors.js";
import { errno } from "./wasi-errno.js";
import type { ImportTable } from "./wasm.js";

export function transferImports(ports: FilePorts): ImportTable {
  return { ...readImports(ports), fd_write: writeImport(ports) };
}

function readImports({ memory, descriptors, random }: FilePorts): ImportTable {
  const readFile = (file: OpenFile, offset: number, start: number, length: number): number => {
    const part = file.node.bytes.subarray(offset, Math.min(offset + length, file.node.size));
    memory().bytes.set(part, start);
    return part.length;
  };
  return {
    fd_read: (fd: number, vectors: number, count: number, readOut: number) => {
      const node = descriptors.get(fd);
      if (node === undefined || node.kind === "folder") return errno.badDescriptor;
      const total = eachVector(memory, vectors, count, (start, length) => {
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
      const total = eachVector(memory, vectors, count, (start, length) => {
        const moved = readFile(file, at, start, length);
        at += moved;
        return moved;
      });
      memory().words[readOut >>> 2] = total;
      return errno.success;
    },
  };
}

function writeImport({ memory, descriptors, print }: FilePorts) {
  return (fd: number, vectors: number, count: number, writtenOut: number): number => {
    const file = descriptors.file(fd);
    if (file === undefined && (fd < 1 || fd > 2)) return errno.badDescriptor;
    const total = eachVector(memory, vectors, count, (start, length) => {
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
  };
}

/** `vectors` points at pairs of (address, length). Ends early when `move` moves less than a whole one. */
function eachVector(
  memory: () => EngineMemory,
  vectors: number,
  count: number,
  move: (start: number, length: number) => number,
): number {
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
}
