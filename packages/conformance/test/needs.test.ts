/** A case says what it needs of its lab, so that a store which lacks it can leave the case out. */
import { type ClosingLab, type LockCase, type LockLab, runCase } from "@holdfast/conformance";
import { expect, test } from "vitest";

const lab = { peek: { leftMs: async () => null }, close: async () => {} } as unknown as ClosingLab<LockLab>;
const look: LockCase = {
  name: "looks at the store",
  covers: [],
  needs: [],
  run: async ({ peek }) => void (await peek.leftMs("name")),
};

test("a case that uses what it does not say that it needs fails in every lab", async () => {
  await expect(runCase(look, lab)).rejects.toThrow(/uses "peek" of the lab/);
  await expect(runCase({ ...look, needs: ["peek"] }, lab)).resolves.toBeUndefined();
});
