/** A program may export its handlers and write declarations of them: every type in them has a public name. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const root = resolve(import.meta.dirname, "../../../..");

const PROGRAM = `
import type { FastifyRequest } from "fastify";
import { Holdfast } from "holdfast";
import { RequestLimiter } from "holdfast/middleware";
import { rateLimit as forExpress } from "holdfast/middleware/express";
import { rateLimit as forFastify } from "holdfast/middleware/fastify";
import { rateLimit as forFetch } from "holdfast/middleware/fetch";
import { rateLimit as forHono } from "holdfast/middleware/hono";
import { HttpFence, MemoryFences } from "holdfast/fencing/http";
import type { Context } from "hono";

const hf = new Holdfast("redis://127.0.0.1:1");
const limits = hf.limit("api", { max: 1, per: "1m" });

export const limiter = new RequestLimiter(hf, { limits, key: (request: { user: string }) => request.user });
export const onExpress = forExpress(hf, { limits });
export const onFastify = forFastify(hf, { limits });
export const onFastifyByUser = forFastify(hf, { limits, key: (request: FastifyRequest) => request.url });
export const onHono = forHono(hf, { limits });
export const onHonoByUser = forHono(hf, { limits, key: (context: Context) => context.req.path });
export const onFetch = forFetch(hf, { limits, address: () => "192.0.2.1" });
export const fence = new HttpFence({ store: new MemoryFences() });
`;

test("handlers compile with declaration: true, outside of this workspace", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-declarations-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "handlers.ts"), PROGRAM);
  const compilerOptions = {
    declaration: true,
    emitDeclarationOnly: true,
    module: "nodenext",
    strict: true,
    skipLibCheck: true,
    target: "es2022",
    types: ["node"],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["handlers.ts"] }));
  const compiled = promisify(execFile)(
    process.execPath,
    [join(root, "node_modules/typescript/bin/tsc"), "-p", folder],
    { cwd: folder },
  );
  expect(await compiled.catch(({ stdout }: { stdout: string }) => stdout)).toMatchObject({ stdout: "" });
});
