/**
 * Compiles and runs the code of the documentation: `tsx scripts/run-docs.ts [page…]`.
 *
 * All programs are compiled in one go, strictly, then each runs in its own process against an emptied server whose
 * address is in REDIS_URL. What a block may say about itself: docs/blocks.ts.
 * A program whose database is missing is compiled and not run; with CI set, it fails.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gatesOf } from "./check/gates.ts";
import {
  type Block,
  blocksOf,
  languages,
  outputDiffers,
  type Program,
  printsOf,
  programsOf,
} from "./docs/blocks.ts";
import { commandsOf, type House, missingIn } from "./docs/commands.ts";
import { missingFor, startDatabases } from "./docs/databases.ts";
import { compiledOf, openFolder, writeProgram } from "./docs/folder.ts";
import { type DocsServer, startServer } from "./docs/server.ts";
import { filesBelow, workspaces } from "./files.ts";
import { readText } from "./lua.ts";

const timeoutMs = 20_000;

export interface Outcome {
  readonly place: string;
  /** Why it failed; undefined when it ran as promised. */
  readonly failure: string | undefined;
  /** Why it was not run. */
  readonly leftOut?: string;
}

export interface Report {
  readonly outcomes: readonly Outcome[];
  /** Blocks that do not run, with their reason. */
  readonly notRun: readonly string[];
}

/** The pages whose code must run, relative to the root. */
export function pagesOf(root: string): string[] {
  const readmes = [
    "README.md",
    "CONTRIBUTING.md",
    ...workspaces(root).flatMap((folder) => [
      `${folder}/README.md`,
      ...filesBelow(join(root, folder, "src"), `${folder}/src/`).filter((file) =>
        file.endsWith("/README.md"),
      ),
    ]),
  ];
  const docs = filesBelow(join(root, "docs"), "docs/").filter((file) => file.endsWith(".md"));
  return [...readmes.filter((file) => existsSync(join(root, file))), ...docs];
}

export async function runDocs(root: string, pages: readonly string[] = pagesOf(root)): Promise<Report> {
  const texts = pages.map((page) => readText(join(root, page)));
  const blocks = pages.map((page, at) => blocksOf(page, texts[at] ?? ""));
  const all = blocks.flat();
  const skipped = all.filter(({ language, noRun }) => languages.has(language) && noRun !== undefined);
  const house = houseOf(root);
  const ran = await runPrograms(root, blocks.flatMap(programsOf));
  return {
    outcomes: [
      ...skipped
        .filter(({ noRun }) => noRun === "")
        .map((block) => failed(block, 'no-run needs a reason: no-run="…"')),
      ...pages
        .flatMap((page, at) => commandsOf(page, texts[at] ?? ""))
        .map((command) => ({ place: command.place, failure: missingIn(command, house) }))
        .filter(({ failure }) => failure !== undefined),
      ...ran.filter(({ leftOut }) => leftOut === undefined),
    ],
    notRun: [
      ...skipped.map((block) => `${placeOf(block)} ${block.noRun}`),
      ...ran.flatMap(({ place, leftOut }) => (leftOut === undefined ? [] : [`${place} ${leftOut}`])),
    ],
  };
}

function houseOf(root: string): House {
  const files = [...workspaces(root), "scripts"].flatMap((folder) => {
    return filesBelow(join(root, folder, "test"), `${folder}/test/`);
  });
  const tests = files.filter((file) => file.endsWith(".test.ts"));
  return {
    scripts: JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts,
    exists: (path: string) => existsSync(join(root, path)),
    gates: gatesOf(root).map(({ name }) => name),
    tests: new Map(tests.map((file) => [file, readFileSync(join(root, file), "utf8")])),
  };
}

async function runPrograms(root: string, programs: readonly Program[]): Promise<Outcome[]> {
  if (programs.length === 0) return [];
  const folder = openFolder(root);
  try {
    const files = programs.map((program) => writeProgram(folder, program));
    const errors = await compile(
      root,
      folder,
      programs.flatMap((program, at) => compiledOf(program, files[at] ?? "")),
    );
    const queue = programs.map((program, at) => ({ program, file: files[at] ?? "", at }));
    // In the order of the pages, whichever ends first.
    const outcomes: Outcome[] = new Array(queue.length);
    const lanes = Math.min(availableParallelism(), Math.ceil(queue.length / 2));
    await Promise.all(
      Array.from({ length: lanes }, async () => {
        const server = await startServer();
        try {
          for (let next = queue.shift(); next; next = queue.shift()) {
            const wrong = compiledOf(next.program, next.file)
              .flatMap((file) => errors.get(file) ?? [])
              .join("");
            outcomes[next.at] = wrong
              ? failed(next.program.last, wrong)
              : await runProgram(next.program, folder, next.file, server);
          }
        } finally {
          await server.stop();
        }
      }),
    );
    return outcomes;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compiler errors by file. */
async function compile(root: string, folder: string, files: readonly string[]): Promise<Map<string, string>> {
  const config = {
    extends: join(root, "tsconfig.base.json"),
    compilerOptions: {
      ...{
        composite: false,
        incremental: false,
        declaration: false,
        declarationMap: false,
        sourceMap: false,
      },
      ...{
        noUnusedLocals: false,
        noUnusedParameters: false,
        skipLibCheck: true,
        allowJs: true,
        checkJs: false,
      },
      ...{
        emitDeclarationOnly: false,
        inlineSourceMap: true,
        rootDir: ".",
        outDir: "out",
        typeRoots: [join(root, "node_modules/@types")],
        // As frameworks with decorators have it.
        ...{ experimentalDecorators: true, emitDecoratorMetadata: true, erasableSyntaxOnly: false },
      },
    },
    files,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { code, output } = await run([tsc, "-p", folder, "--pretty", "false"], root, {});
  const errors = new Map<string, string>();
  for (const line of output.split("\n")) {
    const [, path = "", at, message] = /^(.+?)\((\d+),\d+\): (.*)$/.exec(line) ?? [];
    if (at === undefined) continue;
    const file = relative(folder, resolve(root, path));
    errors.set(file, `${errors.get(file) ?? ""}line ${at}: ${message}\n`);
  }
  if (code !== 0 && errors.size === 0) throw new Error(output);
  return errors;
}

async function runProgram(
  program: Program,
  folder: string,
  file: string,
  server: DocsServer,
): Promise<Outcome> {
  const missing = missingFor(program);
  if (missing !== undefined) {
    const place = placeOf(program.last);
    return process.env.CI ? failed(program.last, missing) : { place, failure: undefined, leftOut: missing };
  }
  await server.empty();
  const databases = await startDatabases(program);
  try {
    return await runScript(program, join(folder, "out", dirname(file)), basename(file), {
      REDIS_URL: server.url,
      ...databases.env,
    });
  } finally {
    await databases.stop();
  }
}

async function runScript(
  program: Program,
  folder: string,
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const script = join(folder, file.replace(/\.mts$/, ".mjs"));
  const runner = program.last.runner;
  const args = runner === undefined ? ["--enable-source-maps", script] : runnerOf(runner, file);
  const { code, output, errors } = await run(args, folder, env);
  // The lines of the file are those of the page.
  const shown = errors.replaceAll(new RegExp(`\\S*${file.replaceAll(".", "\\.")}`, "g"), program.last.file);
  if (code !== 0) return failed(program.last, `exit code ${code}\n${shown}`);
  const differs = outputDiffers(printsOf(program), output);
  return differs ? failed(program.last, differs) : { place: placeOf(program.last), failure: undefined };
}

/** The command of a test runner, for one file of the folder it runs in. */
function runnerOf(runner: string, file: string): string[] {
  const modules = "../../node_modules";
  if (runner === "vitest") return [`${modules}/vitest/vitest.mjs`, "run", "--root", ".", file];
  if (runner === "jest") return [`${modules}/jest/bin/jest.js`, "--rootDir", ".", "--runTestsByPath", file];
  throw new Error(`test=${runner}: use vitest or jest`);
}

interface Ended {
  readonly code: number | string;
  readonly output: string;
  readonly errors: string;
}

function run(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>): Promise<Ended> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    let [output, errors] = ["", ""];
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    child.on("error", fail);
    child.on("close", (code, signal) =>
      done({ code: code ?? `${signal} after ${timeoutMs} ms`, output, errors }),
    );
  });
}

function placeOf({ file, line }: Block): string {
  return `${file}:${line}`;
}

function failed(block: Block, failure: string): Outcome {
  return { place: placeOf(block), failure };
}

async function main(): Promise<void> {
  const root = resolve(import.meta.dirname, "..");
  const pages = process.argv.slice(2);
  const { outcomes, notRun } = await runDocs(root, pages.length > 0 ? pages : pagesOf(root));
  const failures = outcomes.filter(({ failure }) => failure !== undefined);
  for (const { place, failure } of failures)
    console.log(`${place}\n  ${failure?.trimEnd().replaceAll("\n", "\n  ")}`);
  for (const line of notRun) console.log(`not run: ${line}`);
  console.log(
    `${outcomes.length - failures.length} ran, ${failures.length} failed, ${notRun.length} not run`,
  );
  if (failures.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
