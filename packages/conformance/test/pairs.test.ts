/** What the pairs promise, as a count: nothing of it shows when a run is missing. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { everyClient } from "./clients.ts";
import { cases, kinds, pairsOf } from "./matrix.ts";

const clients = everyClient();
const runs = clients.flatMap((_, client) =>
  kinds.flatMap((kind) => pairsOf(client, clients.length, kind).map((each) => ({ each, client, kind }))),
);

describe("the pairs of the matrix", () => {
  test("a case that waits for nothing runs with every client, and on every server that it can have", () => {
    const wrong = cases.filter((each) => {
      const own = runs.filter((run) => run.each === each);
      const possible = kinds.filter((kind) => !(kind.endsWith("TLS") && each.needs.includes("proxy")));
      const isRight =
        own.length === clients.length &&
        new Set(own.map(({ client }) => client)).size === clients.length &&
        possible.every((kind) => own.some((run) => run.kind === kind)) &&
        own.every(({ kind }) => possible.includes(kind));
      return !each.waits && !isRight;
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  test("a case that waits runs once on each program", () => {
    const wrong = cases.filter((each) => {
      const programs = runs.filter((run) => run.each === each).map(({ kind }) => kind.split(",", 1)[0]);
      return each.waits && programs.sort().join() !== "redis-server,valkey-server";
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  test("every client meets every server", () => {
    const met = new Set(runs.map(({ client, kind }) => `${client} ${kind}`));
    expect(met.size).toBe(clients.length * kinds.length);
  });

  test("every client is in one file of the matrix", () => {
    const folder = import.meta.dirname;
    const libraries = readdirSync(folder)
      .filter((file) => file.startsWith("pairs-"))
      .map((file) => /runPairs\("(.*)"\)/.exec(readFileSync(`${folder}/${file}`, "utf8"))?.[1] ?? "");
    const files = clients.map(({ title }) => libraries.filter((library) => title.startsWith(library)).length);
    expect(files).toEqual(clients.map(() => 1));
  });
});
