/** Pages of the documentation for tests of what runs them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { onTestFinished, vi } from "vitest";

const root = resolve(import.meta.dirname, "../..");

export const fenced = (info: string, code: string) => `\`\`\`${info}\n${code}\`\`\`\n`;

/** Its path from the root. It goes with the test. */
export function pageOf(...blocks: string[]): string {
  const pages = join(root, "node_modules/.cache");
  mkdirSync(pages, { recursive: true });
  const folder = mkdtempSync(join(pages, "docs-test-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
    vi.unstubAllEnvs();
  });
  writeFileSync(join(folder, "page.md"), blocks.join(""));
  return relative(root, join(folder, "page.md"));
}

const connect = 'import pg from "pg";\nconst client = new pg.Client("postgres://localhost:5432/test");\n';
export const createTable = `${connect}await client.connect();\nawait client.query("CREATE TABLE t (n int)");\nawait client.end();\n`;
