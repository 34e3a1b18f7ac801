/**
 * What holds for the writes of records. An operation "write" that succeeded says which version it made, which version it named, and, where
 * it wrote a value that names the one before it, both. The operations given must be of a time in which the server lost nothing.
 */
import type { Operation } from "./operation.js";
import { byKey, type Violation } from "./violation.js";

/** What a record holds: its own id, and the id of the value from which it was made; null where there was none. */
export interface Linked {
  readonly id: string;
  readonly after: string | null;
}

/** The value of a "write". Versions are decimal digits. */
export interface RecordWritten {
  /** Null: a recipe without versions. */
  readonly version: string | null;
  /** The version that the write named; null: any, "0": no value. */
  readonly expected: string | null;
  /** Null: the value names no other. */
  readonly link: Linked | null;
}

interface Write {
  readonly operation: Operation;
  readonly written: RecordWritten;
}

interface Versioned extends Write {
  readonly version: bigint;
}

/** V1: versions rise with every write, and none is there twice. */
export function checkVersions(operations: Iterable<Operation>): Violation[] {
  return [...writesByKey(operations)].flatMap(([key, all]) => {
    const writes = versioned(all);
    const violations: Violation[] = [];
    let highest: Versioned | null = null;
    // In the order of their ends, the highest version of those that had ended is the one to compare with.
    const byEnd = writes.toSorted((a, b) => endOf(a) - endOf(b));
    let ended = 0;
    for (const write of writes) {
      for (let one = byEnd[ended]; one && endOf(one) < write.operation.invMs; one = byEnd[++ended])
        if (!highest || one.version > highest.version) highest = one;
      if (highest && write.version <= highest.version)
        violations.push(
          violation("V1", key, [highest, write], `has version ${write.version}, after ${highest.version}`),
        );
    }
    const byVersion = new Map<bigint, Versioned>();
    for (const write of writes) {
      const other = byVersion.get(write.version);
      if (other) violations.push(violation("V1", key, [other, write], `has version ${write.version} twice`));
      byVersion.set(write.version, write);
    }
    return violations;
  });
}

/** V2: between a write and the version that it named there is no other. */
export function checkConditions(operations: Iterable<Operation>): Violation[] {
  return [...writesByKey(operations)].flatMap(([key, writes]) => {
    const sorted = versioned(writes).toSorted((a, b) => (a.version < b.version ? -1 : 1));
    return sorted.flatMap((write, place) => {
      const before = sorted[place - 1];
      const { expected } = write.written;
      if (!before || expected === null || expected === "0" || before.version <= BigInt(expected)) return [];
      return [
        violation("V2", key, [before, write], `was at ${before.version}, where a write named ${expected}`),
      ];
    });
  });
}

/** V3: of two values that follow from the same one, one was lost. */
export function checkLinks(operations: Iterable<Operation>): Violation[] {
  return [...writesByKey(operations)].flatMap(([key, writes]) => {
    const next = new Map<string | null, Write>();
    return writes.flatMap((write) => {
      const { link } = write.written;
      if (!link) return [];
      const other = next.get(link.after);
      next.set(link.after, write);
      return other
        ? [violation("V3", key, [other, write], `lost an update: two follow from ${link.after}`)]
        : [];
    });
  });
}

function writesByKey(operations: Iterable<Operation>): Map<string, Write[]> {
  const keys = new Map<string, Write[]>();
  for (const [key, all] of byKey(operations)) {
    const writes = all.flatMap((operation): Write[] => {
      if (operation.f !== "write" || operation.type !== "ok") return [];
      return [{ operation, written: operation.value as RecordWritten }];
    });
    keys.set(
      key,
      writes.sort((a, b) => a.operation.invMs - b.operation.invMs),
    );
  }
  return keys;
}

function versioned(writes: readonly Write[]): Versioned[] {
  return writes.flatMap((write) => {
    const { version } = write.written;
    return version === null ? [] : [{ ...write, version: BigInt(version) }];
  });
}

function endOf({ operation }: Write): number {
  return operation.retMs ?? operation.invMs;
}

function violation(
  property: "V1" | "V2" | "V3",
  key: string,
  writes: readonly [Write, Write],
  what: string,
): Violation {
  const [first, second] = writes;
  return {
    property,
    key,
    operations: [first.operation, second.operation],
    message: `"${key}" ${what}: ${first.operation.process} and ${second.operation.process}`,
    atMs: endOf(second),
  };
}
