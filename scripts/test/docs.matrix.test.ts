import { resolve } from "node:path";
import { needing } from "@holdfast/conformance";
import { expect, test } from "vitest";
import { runDocs } from "../run-docs.ts";
import { createTable, fenced, pageOf } from "./pages.ts";

const root = resolve(import.meta.dirname, "../..");

needing(test, "postgres")("a page with a database has a new one for each program", async () => {
  const page = pageOf(fenced("ts needs=postgres", createTable), fenced("ts needs=postgres", createTable));
  const { outcomes } = await runDocs(root, [page]);
  expect(outcomes.map(({ failure }) => failure)).toEqual([undefined, undefined]);
});
