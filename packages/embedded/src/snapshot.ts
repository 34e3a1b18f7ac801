/**
 * A copy of everything an engine is: its memory, its stack pointer, its descriptors and its files.
 * Taken between two steps it can be restored any number of times, also into another core.
 *
 * A restored engine is a clone: same run id, same hash seed. Its monotonic clock must not stand
 * before the moment of the snapshot. The clients of that moment have hung up.
 */
import type { DescriptorTable, OpenNode } from "./descriptors.js";
import type { EndpointRecord } from "./host.js";
import type { FileNode, MemoryFiles } from "./memory-files.js";

export interface ValkeySnapshot {
  /** Size of the engine's memory in it, in bytes. */
  readonly memoryBytes: number;
}

/** The same, as the core sees it. Copies of open files are matched to paths by identity. */
export interface SnapshotContent extends ValkeySnapshot {
  readonly memory: Uint8Array;
  readonly stackPointer: number;
  readonly endpoints: readonly EndpointRecord[];
  readonly files: readonly [path: string, content: Uint8Array][];
  readonly open: readonly OpenRecord[];
}

interface OpenRecord {
  readonly fd: number;
  readonly node: OpenNode;
  /** Where the file is linked; null for a folder, a device, or a file that was removed while open. */
  readonly path: string | null;
}

export function recordDescriptors(descriptors: DescriptorTable, files: MemoryFiles): OpenRecord[] {
  const paths = new Map(files.paths().map((path) => [files.node(path), path] as const));
  return descriptors.entries().map(([fd, node]) => {
    if (node.kind !== "file") return { fd, node, path: null };
    return { fd, node: { ...node, node: copyNode(node.node) }, path: paths.get(node.node) ?? null };
  });
}

/** Call after the files themselves are back: open descriptors then share their nodes again. */
export function restoreDescriptors(
  descriptors: DescriptorTable,
  records: readonly OpenRecord[],
  files: MemoryFiles,
): void {
  descriptors.replace(
    records.map(({ fd, node, path }): [number, OpenNode] => {
      if (node.kind !== "file") return [fd, node];
      const linked = path === null ? undefined : files.node(path);
      return [fd, { ...node, node: linked ?? copyNode(node.node) }];
    }),
  );
}

function copyNode(node: FileNode): FileNode {
  return { kind: "file", bytes: node.bytes.slice(0, node.size), size: node.size };
}
