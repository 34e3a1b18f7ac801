/**
 * The engine's open files: descriptor numbers below the sockets' range, each a place in a file.
 * 0 to 2 are the standard streams and 3 is the root folder; a new one is the lowest free from 4.
 */
import type { FileNode } from "./memory-files.js";

export const rootDescriptor = 3;
const firstDescriptor = 4;

export interface OpenFile {
  readonly kind: "file";
  readonly node: FileNode;
  readonly isAppending: boolean;
  offset: number;
}

export interface OpenFolder {
  readonly kind: "folder";
  readonly path: string;
}

/** /dev/urandom: every read is fresh bytes from the source that was passed in. */
export interface OpenRandom {
  readonly kind: "random";
}

export type OpenNode = OpenFile | OpenFolder | OpenRandom;

export class DescriptorTable {
  #nodes = new Map<number, OpenNode>([[rootDescriptor, { kind: "folder", path: "/" }]]);

  get(fd: number): OpenNode | undefined {
    return this.#nodes.get(fd);
  }

  file(fd: number): OpenFile | undefined {
    const node = this.#nodes.get(fd);
    return node?.kind === "file" ? node : undefined;
  }

  open(node: OpenNode): number {
    let fd = firstDescriptor;
    while (this.#nodes.has(fd)) fd += 1;
    this.#nodes.set(fd, node);
    return fd;
  }

  close(fd: number): boolean {
    return this.#nodes.delete(fd);
  }

  renumber(from: number, to: number): boolean {
    const node = this.#nodes.get(from);
    if (node === undefined) return false;
    this.#nodes.delete(from);
    this.#nodes.set(to, node);
    return true;
  }

  entries(): [fd: number, node: OpenNode][] {
    return [...this.#nodes];
  }

  replace(entries: Iterable<[fd: number, node: OpenNode]>): void {
    this.#nodes = new Map(entries);
  }
}
