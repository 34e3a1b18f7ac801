/** docs/guides/capacity.md says what was recorded. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { capacityPage, capacityPicture, places } from "../../src/capacity/page.js";
import type { CapacityRecord } from "../../src/capacity/record.js";

const root = new URL("../../../../", import.meta.url);
const textOf = (place: string) => readFileSync(new URL(place, root), "utf8");
const record: CapacityRecord = JSON.parse(textOf(places.record));

test("the tables are those of the record (vitest -u writes them)", async () => {
  const page = capacityPage(textOf(places.page), record);
  await expect(page).toMatchFileSnapshot(new URL(places.page, root).pathname);
});

test("the picture shows the record (vitest -u draws it)", async () => {
  await expect(capacityPicture(record)).toMatchFileSnapshot(new URL(places.picture, root).pathname);
});

test("real processes ask what virtual ones ask", () => {
  const compared = [
    ["held", "take"],
    ["waiting", "ask"],
    ["queued", "push"],
    ["queued", "consume"],
  ];
  for (const [load, phase] of compared)
    for (const real of record.real.rows.filter((row) => row.load === load && row.phase === phase)) {
      const virtual = record.virtual.rows.find(
        (row) => row.load === load && row.phase === phase && row.processes === real.processes,
      );
      const which = `${load} ${phase}, ${real.processes}`;
      expect(real.done, which).toBe(virtual?.done);
      expect(real.requests / (virtual?.requests ?? 0), which).toBeGreaterThan(0.8);
      expect(real.requests / (virtual?.requests ?? 0), which).toBeLessThan(1.25);
    }
});
