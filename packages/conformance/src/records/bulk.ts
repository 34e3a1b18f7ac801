/** Cases of many records at once. */
import assert from "node:assert/strict";
import { ConflictError } from "holdfast";
import type { NounCase } from "../case.js";

export const bulkCases: readonly NounCase[] = [
  {
    name: "many records are written and read at once, each with its own outcome",
    covers: [],
    needs: [],
    async run(lab) {
      const hf = await lab.holdfast();
      const names = Array.from({ length: 100 }, () => lab.name());
      const [taken = "", ...others] = names;
      const { version } = await hf.record(taken).put("there");
      const entries = names.map((name, at) => ({ name, value: { at }, version: 0n }));
      const [first, ...results] = await hf.records.putMany(entries);
      assert.ok(first && !first.ok && first.reason === "conflict" && first.error instanceof ConflictError);
      assert.deepEqual([first.error.version, first.error.value], [version, "there"]);
      assert.ok(results.every(({ ok }) => ok));
      const outcomes = await hf.records.getMany(names);
      assert.deepEqual(
        outcomes.map((outcome) => outcome.ok && outcome.state?.value),
        ["there", ...others.map((_, at) => ({ at: at + 1 }))],
      );
    },
  },
  {
    name: "records of one tag are written all or none",
    covers: [],
    needs: [],
    async run(lab) {
      const [a, b] = [await lab.holdfast(), await lab.holdfast()];
      const tag = lab.name("tag");
      const both = (value: number, condition: { readonly version?: bigint } = {}) => [
        { name: "one", tag, value },
        { name: "two", tag, value, ...condition },
      ];
      const written = await a.records.putMany(both(1));
      assert.ok(written.every(({ ok }) => ok));
      const refused = await b.records.putMany(both(2, { version: 0n }));
      assert.deepEqual(
        refused.map((result) => !result.ok && result.reason),
        ["together", "conflict"],
      );
      for (const name of ["one", "two"]) assert.equal((await b.record(name, { tag }).get())?.value, 1);
    },
  },
  {
    name: "writers of the same records of one tag leave them of one writer",
    covers: [],
    needs: [],
    async run(lab) {
      const tag = lab.name("tag");
      const names = ["one", "two", "three"];
      const writers = [await lab.holdfast(), await lab.holdfast(), await lab.holdfast()];
      await Promise.all(
        writers.map(async (hf, value) => {
          for (let round = 0; round < 5; round += 1)
            await hf.records.putMany(names.map((name) => ({ name, tag, value: `${value}/${round}` })));
        }),
      );
      const outcomes = await (writers[0] as (typeof writers)[number]).records.getMany(
        names.map((name) => ({ name, tag })),
      );
      const values = new Set(outcomes.map((outcome) => outcome.ok && outcome.state?.value));
      assert.equal(values.size, 1);
    },
  },
];
