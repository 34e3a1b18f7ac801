/** Records: callers update one, or replace it where nobody else has written. Each value names the one from which it was made. */
import {
  checkConditions,
  checkLinks,
  checkVersions,
  type Linked,
  type RecordWritten,
} from "../../history/record-rules.js";
import type { Caller, Rounds, Workload } from "./workload.js";

/** Between the reading and the writing. */
const WORK_MS = 5;
/** An update waits for the others of its process, and sends a write again whose answer is lost. */
const UPDATE_MS = 15_000;

export const record: Workload = {
  name: "record",
  canary: "GET, then SET",
  join: (caller) => (caller.isNaive ? naive(caller) : versioned(caller)),
  judge(found) {
    return found
      .stretches()
      .flatMap((kept) => [checkVersions, checkConditions, checkLinks].flatMap((check) => check(kept)));
  },
};

function versioned(caller: Caller): Rounds {
  const { hf, dice } = caller;
  const chain = hf.record<Linked>("chain");
  const linked = links(caller);
  let link: Linked | null = null;
  const update = () =>
    chain.update(async (value) => {
      await caller.pause(dice.between(0, WORK_MS));
      link = linked(value);
      return link;
    });
  const found = ({ version }: { readonly version: bigint }) => writtenOf(version, null, link);
  return {
    async round() {
      if (dice.chance(0.6)) {
        await caller.attempt("write", "chain", update, { found, withinMs: UPDATE_MS });
        return;
      }
      const read = await caller.attempt("get", "chain", () => chain.get());
      if (read.type !== "ok") return;
      await caller.pause(dice.between(0, WORK_MS));
      const version = read.value?.version ?? 0n;
      const next = linked(read.value?.value ?? null);
      await caller.attempt("write", "chain", () => chain.put(next, { version }), {
        found: (put) => writtenOf(put.version, version, next),
      });
    },
    async last() {
      await caller.insist("last update", "chain", () => chain.update(linked));
    },
  };
}

/** Two that read the same value both write what follows from it. */
function naive(caller: Caller): Rounds {
  const { redis, dice } = caller;
  const linked = links(caller);
  let link: Linked | null = null;
  const replace = async (): Promise<void> => {
    const text = await redis.get("canary:chain");
    await caller.pause(dice.between(0, WORK_MS));
    link = linked(text === null ? null : (JSON.parse(text) as Linked));
    await redis.set("canary:chain", JSON.stringify(link));
  };
  return {
    async round() {
      await caller.attempt("write", "canary:chain", replace, { found: () => writtenOf(null, null, link) });
    },
  };
}

/** A value that follows from another, with an id that nobody else has. */
function links({ name }: Caller): (before: Linked | null) => Linked {
  let count = 0;
  return (before) => ({ id: `${name}/${++count}`, after: before?.id ?? null });
}

function writtenOf(
  version: bigint | null,
  expected: bigint | null,
  link: Linked | null,
): { readonly value: RecordWritten } {
  const text = (number: bigint | null): string | null => (number === null ? null : String(number));
  return { value: { version: text(version), expected: text(expected), link } };
}
