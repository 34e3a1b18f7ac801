/** The errors that are of this package, and their documentation. The others are those of the originals and of holdfast. */
import { readFileSync } from "node:fs";
import { type HoldfastError, ServerError } from "holdfast";
import { expect, test } from "vitest";
import { NotPortedError } from "../src/index.ts";
import * as trafficJam from "../src/traffic-jam/index.ts";

const limit = new trafficJam.GcraLimit("a", "b", { max: 1, period: 1 });
const SAMPLES: HoldfastError[] = [
  new NotPortedError("x"),
  new trafficJam.LimitNotFoundError("a"),
  new trafficJam.LimitExceededError(limit, null),
  new trafficJam.InvalidKeyError(new ServerError("WRONGTYPE x")),
  new trafficJam.DecrementNotSupportedError(limit),
];

test("every exported error class of TrafficJam has a sample here", () => {
  const classes = Object.keys(trafficJam).filter((name) => name.endsWith("Error"));
  expect(SAMPLES.map(({ name }) => name).sort()).toEqual(["NotPortedError", ...classes].sort());
});

test("docs/errors.md has exactly these of this package, each with its class and a remedy", () => {
  const page = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8");
  const sections = page.split(/^## /m).slice(1);
  const own = sections.filter((section) => section.includes("`@holdfast/compat/"));
  expect(own.map((section) => section.split("\n", 1)[0])).toEqual(SAMPLES.map(({ code }) => code));
  for (const [place, section] of own.entries()) {
    expect(section).toContain(`\`${SAMPLES[place]?.name}\``);
    expect(section).toContain("**Remedy:**");
  }
});
