/** Completion in the shells themselves, where they are installed. */

import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { needing, type ProgramName, program } from "@holdfast/conformance";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { MAIN, Program, run } from "./program.js";
import { startEmbedded, type TestServer } from "./servers.js";

vi.setConfig({ testTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), "holdfast-completion-"));
let server: TestServer;

beforeAll(async () => {
  server = await startEmbedded();
  // `holdfast` by its name, as the scripts call it.
  mkdirSync(join(folder, "bin"));
  const file = join(folder, "bin", "holdfast");
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(file, 0o755);
  writeFileSync(join(folder, "some-file.txt"), "");
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

function shell(name: ProgramName, args: readonly string[], script: string): string {
  const env = {
    ...process.env,
    HOLDFAST_REDIS: server.url,
    PATH: `${join(folder, "bin")}${delimiter}${process.env["PATH"]}`,
    HOME: folder,
  };
  const { stdout, stderr, status } = spawnSync(program(name), [...args], {
    input: script,
    env,
    cwd: folder,
    encoding: "utf8",
    timeout: 30_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

describe("the question that the scripts ask", () => {
  test.each([
    { words: [""], has: ["lock", "ls", "show", "watch", "release", "embedded", "doctor", "completion"] },
    { words: ["re"], has: ["release"] },
    { words: ["lock", "x", "--"], has: ["--ttl", "--wait", "--redis", "--json"] },
    { words: ["event", ""], has: ["get", "set", "clear", "wait"] },
    { words: ["completion", ""], has: ["bash", "zsh", "fish"] },
    { words: ["lock", "x", "--ttl", ""], has: [] },
  ])("$words", async ({ words, has }) => {
    const { exitCode, stdout } = await run(["complete", "--", ...words], { HOLDFAST_REDIS: server.url });
    expect(exitCode).toBe(0);
    const values = stdout.split("\n").map((line) => line.split("\t", 1)[0]);
    expect(values).toEqual(expect.arrayContaining(has));
    if (has.length === 0) expect(stdout).toBe("");
  });

  test("lock names, and none when Redis is away", async () => {
    const holder = new Program([
      "lock",
      "account:13",
      "--redis",
      server.url,
      "--",
      "sh",
      "-c",
      "echo held; read line",
    ]);
    await holder.printed(/held/);
    const named = await run(["complete", "--", "show", "acc"], { HOLDFAST_REDIS: server.url });
    expect(named).toMatchObject({ exitCode: 0, stdout: "account:13\t\n", stderr: "" });
    const nowhere = await run(["complete", "--", "show", ""], { HOLDFAST_REDIS: "redis://127.0.0.1:1" });
    expect(nowhere).toMatchObject({ exitCode: 0, stdout: "", stderr: "" });
    holder.child.stdin?.end();
    await holder.ended();
  });
});

/** One line a candidate for what is typed, by bash's own completion function. */
const BASH = `
eval "$(holdfast completion bash)"; eval "$(holdfast completion bash)"
compopt() { :; }
try() { COMP_LINE=$1 COMP_POINT=\${#1}; COMPREPLY=(); _holdfast holdfast "\${1##*[ :@]}" ""; echo "$1: \${COMPREPLY[*]}"; }
`;

needing(describe, "bash")("bash", () => {
  const complete = (line: string): string => shell("bash", ["--norc"], `${BASH}try '${line}'`);

  test("commands, options, and the command after --", () => {
    expect(complete("holdfast relea")).toBe("holdfast relea: release\n");
    expect(complete("holdfast lock x --wa")).toBe("holdfast lock x --wa: --wait\n");
    expect(complete("holdfast lock x -- holdfa")).toBe("holdfast lock x -- holdfa: holdfast\n");
  });

  test("what is typed is never run", () => {
    expect(complete("holdfast lock $(echo lock) --lab")).toMatch(/: --label\n$/);
    complete("holdfast lock $(: >touched) `: >touched` --lab");
    expect(shell("bash", ["--norc"], "echo *")).not.toContain("touched");
  });
});

needing(describe, "zsh")("zsh", () => {
  test("loads, and completes at Tab", () => {
    // zpty is a terminal that the completion system of zsh believes in.
    const script = `
zmodload zsh/zpty
zpty z "zsh -f -i"
zpty -w z "PS1=READY; autoload -U compinit; compinit -u -d ${folder}/dump; eval \\"\\$(holdfast completion zsh)\\""
zpty -r -m z line '*READY*READY*'
zpty -w -n z $'holdfast lock x --wa\\t'
zpty -r -m z line '*--wait*'
print -r -- "$line"
zpty -d z
`;
    expect(shell("zsh", ["-f"], script)).toContain("--wait");
  });
});

needing(describe, "fish")("fish", () => {
  const complete = (line: string): string[] => {
    const script = `holdfast completion fish | source; complete -C '${line}'`;
    return shell("fish", ["--no-config", "-c", script], "").trimEnd().split("\n");
  };

  test("commands with their descriptions, options, and the command after --", () => {
    expect(complete("holdfast relea")).toEqual(["release\ttake a lock from its holder"]);
    expect(complete("holdfast lock x --wa")[0]).toMatch(/^--wait\t/);
    expect(complete("holdfast lock x -- cat some")).toContain("some-file.txt");
  });
});
