/** The catalogue, its documentation, and what both promise. */
import { readFileSync } from "node:fs";
import * as holdfast from "holdfast";
import { expect, test } from "vitest";

const SAMPLES: holdfast.HoldfastError[] = [
  new holdfast.InvalidArgumentError("ttlMs", "must be positive"),
  new holdfast.UnsupportedClientError("x"),
  new holdfast.ClientNotInstalledError("x"),
  new holdfast.ClosedError("acquire was called"),
  new holdfast.AcquireTimeoutError("l", 5, null),
  new holdfast.LeaseLostError("l", 1n, "expired"),
  new holdfast.LeaseReleasedError("l", 1n),
  new holdfast.StaleTokenError("r", 1n, 2n),
  new holdfast.IndeterminateError("x"),
  new holdfast.ServerError("OOM x"),
];

test("every exported error class has a sample here", () => {
  const classes = Object.entries(holdfast)
    .filter(([name]) => name.endsWith("Error") && name !== "HoldfastError")
    .map(([name]) => name);
  expect(SAMPLES.map((error) => error.name).sort()).toEqual(classes.sort());
});

test("codes are unique, and docs/errors.md has exactly these, each with its class and a remedy", () => {
  const page = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8");
  const sections = page.split(/^## /m).slice(1);
  const documented = sections.map((section) => section.split("\n", 1)[0]);
  expect(documented).toEqual([...new Set(SAMPLES.map((error) => error.code))]);
  for (const [place, section] of sections.entries()) {
    expect(section).toContain(`\`${SAMPLES[place]?.name}\``);
    expect(section).toContain("**Remedy:**");
  }
});

test("a server's refusal carries the remedy for its code", () => {
  expect(new holdfast.ServerError("WRONGTYPE Operation against a key").message).toMatch(/prefix/);
  expect(new holdfast.ServerError("LOADING x").passing).toBe(true);
  expect(new holdfast.ServerError("ERR unknown command").serverCode).toBe("ERR");
});
