/** The record of a wait: what one process writes, and others read. */
import { expect, test } from "vitest";
import { formatWaits, parseWaits, type WaitRecord } from "../../src/locks/deadlocks/wait-record.js";

const self = { host: "h", pid: 7, label: 'a "label"' };
const record: WaitRecord = {
  fence: 12_345_678_901_234_567n,
  waits: [
    { id: "w1", noun: "mutex", name: "näme {x}", permits: 1, process: self, beat: 3, seen: { w2: 5 } },
    { id: "w2", noun: "rwlock", name: "r", permits: 1_000_000_000, process: self, beat: 0, seen: {} },
  ],
};

test("is read as it was written, and carries nothing else", () => {
  const text = formatWaits(self, record);
  expect(parseWaits(text)).toEqual(record);
  expect(Object.keys(JSON.parse(text))).toEqual(["host", "pid", "label", "fence", "waits"]);
});

test.each([
  ["nothing", ""],
  ["no JSON", "{"],
  ["null", "null"],
  ["a number", "5"],
  ["no waits", '{"host":"h","pid":1,"label":"","fence":"1"}'],
  ["waits that are none", '{"host":"h","pid":1,"label":"","fence":"1","waits":[]}'],
  ["a fence that is none", '{"host":"h","pid":1,"label":"","fence":"x","waits":[{"noun":"mutex"}]}'],
  [
    "a noun of a later version",
    '{"host":"h","pid":1,"label":"","fence":"1","waits":[{"id":"a","noun":"other"}]}',
  ],
])("of another program is none: %s", (_, text) => {
  expect(parseWaits(text)).toBeNull();
});
