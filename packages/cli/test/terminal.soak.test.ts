/** On a terminal: the command keeps it, Ctrl-C and Ctrl-Z work, and what is drawn can be read. */
import { needing } from "@holdfast/conformance";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { isAlive, MAIN, Program, run } from "./program.js";
import { startEmbedded, type TestServer } from "./servers.js";
import { Terminal, type TerminalSize } from "./terminal.js";

vi.setConfig({ testTimeout: 60_000 });

const HOLDFAST = `'${process.execPath}' '${MAIN}'`;

needing(describe, "script")("on a terminal", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startEmbedded();
  });
  afterAll(() => server.stop());

  const env = (): NodeJS.ProcessEnv => ({ HOLDFAST_REDIS: server.url });
  const terminal = (command: string, size?: TerminalSize): Terminal => new Terminal(command, env(), size);
  const isFree = async (name: string): Promise<boolean> =>
    (await run(["lock", name, "--wait", "0", "--", "true"], env())).exitCode === 0;

  async function holder(name: string, label: string): Promise<Program> {
    const program = new Program(
      ["lock", name, "--label", label, "--", "sh", "-c", "echo held; read line"],
      env(),
    );
    await program.printed(/held/);
    return program;
  }

  describe("holdfast lock", () => {
    test("the command reads what is typed, from stdin and from the terminal itself", async () => {
      const reader = `'printf "name? "; read a; read b < /dev/tty; echo "$a and $b"; exit 4'`;
      const shown = terminal(`${HOLDFAST} lock typed -- sh -c ${reader}`);
      await shown.shows(/name\?/);
      shown.type("one\ntwo\n");
      await shown.shows(/^one and two$/m);
      expect(await shown.ended()).toBe(4);
    });

    test("a lost lease stops the command and its children, not the neighbour in the pipe", async () => {
      const inner = `'sleep 61 & echo "inner $!"; wait'`;
      const shown = terminal(
        `(${HOLDFAST} lock piped --ttl 900ms -- sh -c ${inner}; echo "code $?") | (cat; echo neighbour)`,
      );
      const [, pid = ""] = await shown.shows(/inner (\d+)/);
      await run(["release", "piped", "--force", "--yes"], env());
      await shown.shows(/^code 70$/m);
      await shown.shows(/^neighbour$/m);
      expect(isAlive(Number(pid))).toBe(false);
      expect(await shown.ended()).toBe(0);
    });

    test("says that it waits", async () => {
      const first = await holder("queue", "first");
      const shown = terminal(`${HOLDFAST} lock queue -- echo mine`);
      await shown.shows(/holdfast: waiting for 'queue'/);
      first.child.stdin?.end();
      await shown.shows(/^mine$/m);
      await Promise.all([first.ended(), shown.ended()]);
    });

    test("once says that somebody else runs", async () => {
      const first = await holder("once:shown", "first");
      const shown = terminal(`${HOLDFAST} once shown --keep 1m -- echo mine`);
      await shown.shows(/holdfast: somebody else runs 'shown': waiting for its end/);
      first.child.stdin?.end();
      await shown.shows(/^mine$/m);
      await Promise.all([first.ended(), shown.ended()]);
    });
  });

  describe("holdfast watch", () => {
    test("draws in place, follows the window, and gives the terminal back", async () => {
      const long = "a-name-that-is-longer-than-there-is-room-for-in-the-column";
      const first = await holder(long, "worker");
      const shown = terminal(`${HOLDFAST} watch 'a-name*' --interval 100ms; echo "code $?"`, {
        columns: 80,
        rows: 10,
      });
      await shown.shows(/^holdfast watch a-name\* .+ q ends$/m);
      const [line = ""] = await shown.shows(/^a-name.*$/m);
      expect(line).toMatch(/^a-name\S+… +worker .+ \d{16} .+ s$/);
      expect(line.length).toBeLessThanOrEqual(80);
      expect(shown.isAlternate).toBe(true);
      shown.resize({ columns: 40, rows: 6 });
      const [narrow = ""] = await shown.shows(/^LOCK +HOLDER +LEFT +WAITING$/m);
      expect(narrow.length).toBeLessThanOrEqual(40);
      first.child.stdin?.end();
      await shown.shows(/no lock is held or waited for/);
      expect(shown.text()).not.toContain("a-name-that");
      shown.type("q");
      await shown.shows(/^code 0$/m);
      expect(shown.isAlternate).toBe(false);
      expect(shown.written.lastIndexOf("\u001b[?25h")).toBeGreaterThan(
        shown.written.lastIndexOf("\u001b[?25l"),
      );
      await first.ended();
    });

    test("Ctrl-Z gives the terminal back for a while", async () => {
      const shown = terminal("exec bash --norc -i");
      shown.type(`PS1='> '; ${HOLDFAST} watch --interval 100ms\n`);
      await shown.shows(/q ends$/m);
      shown.type("\u001a");
      await shown.shows(/Stopped/);
      expect(shown.isAlternate).toBe(false);
      shown.type("fg\n");
      await shown.shows(/q ends$/m);
      expect(shown.isAlternate).toBe(true);
      shown.type("q");
      await shown.shows(/^>$/m);
      shown.type('echo "code $?"\n');
      await shown.shows(/^code 0$/m);
      shown.type("exit\n");
      await shown.ended();
    });

    test.each(["qq", "\u0003\u0003", "xq", "\u001b[Aq"])(
      "keys that come at once end it as well: %j",
      async (keys) => {
        const shown = terminal(`${HOLDFAST} watch --interval 100ms; echo "code $?"`);
        await shown.shows(/q ends$/m);
        shown.type(keys);
        await shown.shows(/^code 0$/m);
      },
    );

    test("SIGQUIT gives the terminal back", async () => {
      const shown = terminal(
        `(sh -c 'echo "process $$"; exec ${HOLDFAST} watch --interval 100ms'; echo "code $?"; stty -a)`,
      );
      await shown.shows(/q ends$/m);
      process.kill(Number(/process (\d+)/.exec(shown.written)?.[1]), "SIGQUIT");
      await shown.shows(/^code 0$/m);
      await shown.shows(/ icanon/);
      expect(shown.isAlternate).toBe(false);
    });

    test("more locks than rows, and one lock by its name; Ctrl-C ends it", async () => {
      const holders = await Promise.all(
        ["row:1", "row:2", "row:3", "row:4"].map((name) => holder(name, name)),
      );
      const shown = terminal(`exec ${HOLDFAST} watch 'row:*' --interval 100ms`, { columns: 80, rows: 6 });
      await shown.shows(/^and 2 more$/m);
      shown.type("\u0003");
      expect(await shown.ended()).toBe(0);
      const single = terminal(`exec ${HOLDFAST} watch row:2 --interval 100ms`);
      await single.shows(/^row:2\n {2}held by +row:2 \(pid \d+ on .+\)$/m);
      single.type("q");
      expect(await single.ended()).toBe(0);
      for (const each of holders) each.child.stdin?.end();
      await Promise.all(holders.map((each) => each.ended()));
    });
  });

  test("watch draws nothing on a dumb terminal: one line a change; narrow ones have what fits", async () => {
    const held = await holder("dumb:lock", "someone");
    const dumb = terminal(`TERM=dumb exec ${HOLDFAST} watch 'dumb:*' --interval 100ms`);
    await dumb.shows(/ dumb:lock held by someone \(pid \d+ on/);
    dumb.type("\u0003");
    expect(await dumb.ended()).toBe(0);
    expect(dumb.written).not.toContain("\u001b");
    for (const columns of [3, 12, 30]) {
      const narrow = terminal(`exec ${HOLDFAST} watch 'dumb:*' --interval 100ms`, { columns, rows: 5 });
      await narrow.shows(columns < 12 ? /d/ : /dumb:/);
      narrow.type("q");
      expect(await narrow.ended()).toBe(0);
    }
    held.child.stdin?.end();
    await held.ended();
  });

  describe("holdfast release", () => {
    test("asks first: no leaves it, Ctrl-C and Ctrl-D too, yes takes it", async () => {
      const first = await holder("asked", "first");
      const ask = async (answer: string): Promise<Terminal> => {
        const shown = terminal(`${HOLDFAST} release asked --force; echo "code $?"`);
        await shown.shows(/'asked' is held by first \(.+\), fence \d+, for .+\nTake it away\? \[y\/N\]/);
        shown.type(answer);
        await shown.shows(/^code \d+$/m);
        return shown;
      };
      expect((await ask("n\n")).text()).toMatch(/left as it is\ncode 1$/);
      expect((await ask("\n")).text()).toMatch(/left as it is\ncode 1$/);
      expect((await ask("\u0004")).text()).toMatch(/left as it is\ncode 1$/);
      expect((await ask("\u0003")).text()).toMatch(/code 130$/);
      expect(await isFree("asked")).toBe(false);
      expect((await ask("y\n")).text()).toMatch(/was taken from first \(.+\), and is\s+free(.|\n)+code 0$/);
      expect(await first.ended()).toMatchObject({ exitCode: 70 });
    });
  });

  test("colours on a terminal, none with NO_COLOR", async () => {
    const painted = terminal(`${HOLDFAST} show x`);
    await painted.ended();
    expect(painted.written).toContain("\u001b[1m");
    const plain = terminal(`NO_COLOR=1 ${HOLDFAST} show x`);
    await plain.ended();
    expect(plain.written).not.toContain("\u001b[");
  });
});
