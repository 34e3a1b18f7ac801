/** A Nest service: a provider by injection, decorators with the metadata of the compiler, closed by Nest; as CommonJS and as ES modules. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EmbeddedValkey } from "@holdfast/embedded";
import { expect, onTestFinished, test } from "vitest";
import { installed, modules, run } from "./installed.ts";

const SERVICE = `
  import "reflect-metadata";
  import { Injectable, Module, type OnModuleDestroy } from "@nestjs/common";
  import { NestFactory } from "@nestjs/core";
  import { Holdfast, HoldfastError } from "holdfast";

  @Injectable()
  class Coordination extends Holdfast implements OnModuleDestroy {
    constructor() {
      super(process.argv[2] ?? "");
    }
    async onModuleDestroy(): Promise<void> {
      await this.close();
    }
  }

  @Injectable()
  class Reports {
    // The class is found by the metadata that the compiler writes.
    constructor(private readonly coordination: Coordination) {}
    write(): Promise<string> {
      return this.coordination.mutex("report").run(async (lease) => \`written by \${typeof lease.fence}\`);
    }
    lock() {
      return this.coordination.mutex("report").tryAcquire();
    }
  }

  @Module({ providers: [Coordination, Reports], exports: [Reports] })
  class ReportsModule {}

  async function main(): Promise<void> {
    const app = await NestFactory.createApplicationContext(ReportsModule, { logger: ["error"] });
    const reports = app.get(Reports);
    console.log(await reports.write());
    await app.close();
    const refused: unknown = await reports.lock().catch((error: unknown) => error);
    console.log(refused instanceof HoldfastError && refused.code);
  }
  void main();
`;

const beside = ["@nestjs/common", "@nestjs/core", "@types/node", "ioredis", "reflect-metadata", "rxjs"];

const compilerOptions = {
  module: "nodenext",
  target: "es2022",
  types: ["node"],
  strict: true,
  skipLibCheck: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  declaration: true,
};

test("a Nest service runs as CommonJS and as ES modules", async () => {
  const server = await EmbeddedValkey.start();
  onTestFinished(() => server.stop());
  const folder = await installed(beside);
  const files = ["main.cts", "main.mts"];
  for (const file of files) await writeFile(join(folder, file), SERVICE);
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const tsc = join(modules, "typescript-5.9/bin/tsc");
  const { stdout } = await run(process.execPath, [tsc, "-p", folder]).catch((error) => error);
  expect(stdout).toBe("");
  for (const file of ["main.cjs", "main.mjs"]) {
    const ran = await run(process.execPath, [join(folder, file), server.url], { timeout: 30_000 });
    expect(ran.stdout.trim().split("\n"), file).toEqual(["written by bigint", "CLOSED"]);
  }
});
