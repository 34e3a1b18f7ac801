/**
 * A file system in memory: what the engine finds under "/". It outlives an engine, so a new engine
 * on the same files is a restart with its disk.
 */

export interface FileNode {
  readonly kind: "file";
  bytes: Uint8Array;
  size: number;
}

const slash = /\/+/;
const encoder = new TextEncoder();
const smallestCapacity = 256;

export class MemoryFiles {
  readonly #files = new Map<string, FileNode>();
  readonly #folders = new Set<string>(["/"]);

  constructor(entries: Iterable<readonly [path: string, content: string | Uint8Array]> = []) {
    for (const [path, content] of entries) this.write(path, content);
  }

  /** Creates or replaces a file, and the folders above it. */
  write(path: string, content: string | Uint8Array): void {
    const bytes = typeof content === "string" ? encoder.encode(content) : content.slice();
    const name = normalize(path);
    for (let at = name.lastIndexOf("/"); at > 0; at = name.lastIndexOf("/", at - 1))
      this.#folders.add(name.slice(0, at));
    this.#files.set(name, { kind: "file", bytes, size: bytes.length });
  }

  /** A copy of the file's content; undefined when there is none. */
  read(path: string): Uint8Array | undefined {
    const node = this.node(path);
    return node?.bytes.slice(0, node.size);
  }

  remove(path: string): boolean {
    return this.#files.delete(normalize(path));
  }

  /** Every file's path, sorted. */
  paths(): string[] {
    return [...this.#files.keys()].sort();
  }

  /** Copies of all files, in the shape the constructor takes. */
  entries(): [path: string, content: Uint8Array][] {
    return this.paths().map((path) => [path, this.read(path) ?? new Uint8Array()]);
  }

  /** Forgets everything and takes these files instead. */
  replace(entries: Iterable<readonly [path: string, content: string | Uint8Array]>): void {
    this.#files.clear();
    this.#folders.clear();
    this.#folders.add("/");
    for (const [path, content] of entries) this.write(path, content);
  }

  node(path: string): FileNode | undefined {
    return this.#files.get(normalize(path));
  }

  create(path: string): FileNode {
    const node: FileNode = { kind: "file", bytes: new Uint8Array(0), size: 0 };
    this.#files.set(normalize(path), node);
    return node;
  }

  isFolder(path: string): boolean {
    return this.#folders.has(normalize(path));
  }

  createFolder(path: string): void {
    this.#folders.add(normalize(path));
  }

  /** Moves a file over whatever is there. Open descriptors follow the file, not the name. */
  rename(from: string, to: string): boolean {
    const node = this.node(from);
    if (node === undefined) return false;
    this.#files.delete(normalize(from));
    this.#files.set(normalize(to), node);
    return true;
  }

  /** Names directly inside a folder, sorted. */
  names(folder: string): string[] {
    const path = normalize(folder);
    const prefix = path === "/" ? "/" : `${path}/`;
    const names = new Set<string>();
    for (const inside of [...this.#files.keys(), ...this.#folders]) {
      if (inside === "/" || !inside.startsWith(prefix)) continue;
      names.add(inside.slice(prefix.length).split("/")[0] as string);
    }
    return [...names].sort();
  }
}

export function writeAt(node: FileNode, offset: number, content: Uint8Array): void {
  const end = offset + content.length;
  if (end > node.bytes.length) resize(node, Math.max(end, node.bytes.length * 2, smallestCapacity));
  node.bytes.set(content, offset);
  node.size = Math.max(node.size, end);
}

export function truncate(node: FileNode, size: number): void {
  if (size > node.bytes.length) resize(node, size);
  // A later growth must find zeros, as on a disk.
  node.bytes.fill(0, Math.min(size, node.size));
  node.size = size;
}

function resize(node: FileNode, capacity: number): void {
  const bytes = new Uint8Array(capacity);
  bytes.set(node.bytes.subarray(0, node.size));
  node.bytes = bytes;
}

function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split(slash)) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
