/** docs/guides/capacity.md and its picture: the text is written by hand, the tables come from the record. */
import { drawCurves } from "./picture.js";
import type { CapacityRecord } from "./record.js";
import { tablesOf } from "./tables.js";

/** Where the files are, from the root. */
export const places = {
  record: "bench/results/capacity.json",
  page: "docs/guides/capacity.md",
  picture: "docs/guides/capacity.svg",
} as const;

/** The page with its tables made anew: each stands between `<!-- name -->` and `<!-- end -->`. */
export function capacityPage(page: string, record: CapacityRecord): string {
  return Object.entries(tablesOf(record)).reduce((text, [name, table]) => {
    const place = new RegExp(`(<!-- ${name} -->\\n)[^]*?(\\n<!-- end -->)`);
    if (!place.test(text)) throw new Error(`${places.page} has no place for "${name}"`);
    return text.replace(place, (_, begin: string, end: string) => `${begin}\n${table}\n${end}`);
  }, page);
}

export function capacityPicture(record: CapacityRecord): string {
  return drawCurves(record);
}
