/** Names that strangers chose, at Tab and Enter in the shells themselves: none runs, and none reaches the terminal. */

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { needing, type ProgramName } from "@holdfast/conformance";
import { Holdfast } from "holdfast";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { MAIN, run } from "./program.js";
import { startEmbedded, type TestServer } from "./servers.js";
import { Terminal } from "./terminal.js";

vi.setConfig({ testTimeout: 120_000 });

/** Each would do something if a shell read it as it is. The first two characters tell them apart. */
const HOSTILE = [
  "n0$(touch${IFS}pwned)",
  "n1`touch${IFS}pwned`",
  "n2;touch${IFS}pwned",
  "n3&touch${IFS}pwned",
  "n4|touch${IFS}pwned",
  "n5>pwned",
  "n6;>pwned",
  "n7(touch${IFS}pwned)",
  "n8<(touch${IFS}pwned)",
  "n9\ntouch pwned\n",
  "na\rtouch pwned\r",
  "nb touch pwned",
  "nc*",
  "nd{a,b}",
  "ne'",
  'nf"',
  "ng\\",
  "nh!ls",
  "ni\u001b]0;STRANGER\u0007",
  "nj\u007f\u007f\u007fSTRANGER",
  "nk\u009b31mSTRANGER",
  "nl\u202eSTRANGER",
  "nm\u200bSTRANGER",
  "nn\u00a0STRANGER",
  "no\u3164STRANGER",
  `np${"x".repeat(300)}`,
  "~root",
  "=ls",
  "#nq",
  "--redis=redis://127.0.0.1:1",
  "-y",
];

/** As many of them are tried in each shell: a Tab takes half a second. */
const SLOW = 10;

const PLAIN = ["account:13", "mail@example.com", "quota=a,b+c%20/d", "größe", "день", "v1.2_x-y", "Ⅷ"];

const folder = mkdtempSync(join(tmpdir(), "holdfast-names-"));
let server: TestServer;

beforeAll(async () => {
  server = await startEmbedded();
  // `holdfast` writes down its arguments, unless a script asks it for candidates.
  mkdirSync(join(folder, "bin"));
  const file = join(folder, "bin", "holdfast");
  const recorder = `for word; do printf '<%s>' "$word" >> '${folder}/ran'; done; echo >> '${folder}/ran'`;
  writeFileSync(
    file,
    `#!/bin/sh\ncase $1 in comp*) exec '${process.execPath}' '${MAIN}' "$@" ;; esac\n${recorder}\n`,
  );
  chmodSync(file, 0o755);
  const hf = new Holdfast(server.redis);
  for (const name of [...HOSTILE, ...PLAIN]) {
    await hf.mutex(name, { ttl: 600_000 }).acquire();
    await hf.limit("login", { type: "lifetime", max: 5 }).take(name);
    await hf.queue(name).push(1);
    await hf.lanes("work").push(name, 1);
  }
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

describe("only a name that every shell takes as it is becomes a candidate", () => {
  test.each([
    { words: ["show", ""] },
    { words: ["limits", "show", "login", ""] },
    { words: ["queue", "peek", ""] },
    { words: ["lanes", "peek", "work", ""] },
  ])("$words", async ({ words }) => {
    const { exitCode, stdout } = await run(["complete", "--", ...words], { HOLDFAST_REDIS: server.url });
    expect(exitCode).toBe(0);
    expect(
      stdout
        .split("\n")
        .filter((line) => line !== "")
        .sort(),
    ).toEqual(PLAIN.map((name) => `${name}\t`).sort());
  });
});

const SHELLS: readonly {
  readonly shell: string;
  readonly needs: readonly ProgramName[];
  readonly start: string;
  readonly source: string;
}[] = [
  {
    shell: "bash",
    needs: ["bash"],
    start: "bash --norc --noprofile -i",
    source: 'PS1=READY; eval "$(holdfast completion bash)"',
  },
  {
    shell: "zsh",
    needs: ["zsh"],
    start: "zsh -f -i",
    source: `PS1=READY; autoload -U compinit; compinit -u -d '${folder}/dump'; eval "$(holdfast completion zsh)"`,
  },
  {
    shell: "fish",
    needs: ["fish"],
    start: "fish --no-config -i",
    source: "function fish_prompt; echo READY; end; holdfast completion fish | source",
  },
];

/** A shell on a terminal, which has loaded the completion. */
class Shell {
  readonly terminal: Terminal;
  #lines = 0;

  constructor(start: string) {
    const path = `${join(folder, "bin")}${delimiter}${process.env["PATH"]}`;
    const env = { HOLDFAST_REDIS: server.url, PATH: path, HOME: folder, LC_ALL: "C.UTF-8" };
    const size = { columns: 120, rows: 40 };
    this.terminal = new Terminal(`cd '${folder}'; exec ${start}`, env, size);
  }

  /** Resolves when the shell has run the line, and waits for the next. */
  async enter(keys: string): Promise<void> {
    this.#lines += 1;
    this.terminal.type(`${keys}\r`);
    // The echo of this line has no sum.
    this.terminal.type(`expr 5000 + ${this.#lines}\r`);
    await this.terminal.shows(new RegExp(`^${5_000 + this.#lines}\\n+READY`, "m"));
  }

  /** The name that the command got after Tab and Enter. */
  async completed(typed: string): Promise<string | undefined> {
    rmSync(join(folder, "ran"), { force: true });
    await this.enter(`holdfast show ${typed}\t`);
    return /^<show><(.*)>\n$/s.exec(readFileSync(join(folder, "ran"), "utf8"))?.[1];
  }
}

describe.each(SHELLS)("$shell", ({ start, source, needs }) => {
  needing(
    test,
    "script",
    ...needs,
  )("inserts plain names, and runs and prints no other", async () => {
    const shell = new Shell(start);
    await shell.enter(source);
    for (const name of ["account:13", "mail@example.com", "quota=a,b+c%20/d"])
      expect(await shell.completed(name.slice(0, -1))).toBe(name);
    for (const name of HOSTILE.slice(0, SLOW)) {
      const typed = name.slice(0, 2);
      expect(await shell.completed(typed)).toBe(typed);
    }
    shell.terminal.type("holdfast show \t\t");
    await shell.terminal.shows(/account:13/);
    expect(shell.terminal.written).not.toContain("STRANGER");
    expect(readdirSync(folder)).not.toContain("pwned");
  });
});
