/** The library with one text replaced, which the rules of records must find. */
import type { Canary } from "../../workload.js";

export const recordCanaries: readonly Canary[] = [
  {
    rule: "V1",
    what: "a version is the clock alone",
    seed: 51,
    change: {
      file: "redis/lua/_version.lua",
      from: "if version <= last then version = last + 1 end",
      to: "",
    },
  },
  {
    rule: "V2",
    what: "a version that is named is not compared",
    seed: 1,
    change: { file: "records/lua/write.lua", from: "if is_met and left == 0", to: "if left == 0" },
  },
  {
    rule: "V3",
    what: "updates name no version",
    seed: 1,
    change: { file: "records/updates.ts", from: "expected: stored.version", to: 'expected: ""' },
  },
  {
    rule: "V4",
    what: "copies of a write are not known",
    seed: 94,
    change: {
      file: "records/lua/write.lua",
      from: "if not last or last < number then",
      to: "if true then",
    },
  },
  {
    rule: "V5",
    what: "a watch yields the first state only",
    seed: 1,
    change: {
      file: "records/record-store.ts",
      from: "(a, b) => versionOf(a) === versionOf(b)",
      to: "() => true",
    },
  },
  {
    rule: "L3",
    what: "a fence is not compared",
    seed: 2,
    change: {
      file: "records/lua/_record.lua",
      from: "if older(token, seen) or (token == seen and record.holder ~= holder) then return seen end",
      to: "",
    },
  },
  {
    rule: "L3",
    what: "a holder does not prolong the life of the fence",
    seed: 46,
    change: {
      file: "records/lua/_record.lua",
      from: "return math.max(left_of(key, record, record.guards_ms), asked_ms)",
      to: "return left_of(key, record, record.guards_ms)",
    },
  },
  {
    rule: "V6",
    what: "an update reads once",
    seed: 1,
    change: {
      file: "records/updates.ts",
      from: "this.#store.read(target)",
      to: "((this as any).read ??= this.#store.read(target))",
    },
  },
  {
    rule: "V7",
    what: "records of one tag are written each by itself",
    seed: 1,
    change: {
      file: "records/records.ts",
      from: "this.#store.write(group, { together })",
      to: "this.#store.write(group, { together: false })",
    },
  },
  {
    rule: "P5",
    what: "a watcher believes what is said in another database",
    seed: 37,
    change: {
      file: "redis/watched-state.ts",
      from: "this.#place.isHere(read.place)",
      to: "true",
    },
  },
];
