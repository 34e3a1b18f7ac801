/** `holdfast elect` and `holdfast leader`: the command's life, the leadership's life, and what others see. */
import { needing } from "@holdfast/conformance";
import { Holdfast } from "holdfast";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { callerOf } from "./call.js";
import { isAlive, Program } from "./program.js";
import { REDIS_FIRST, type TestServer } from "./servers.js";

vi.setConfig({ testTimeout: 60_000 });

const WITHIN = { timeout: 30_000 };
/** Prints its process id, and ends when it is told to. */
const SLEEPER = ["sh", "-c", "echo $$ $HOLDFAST_TERM; exec sleep 60"];

describe.each(REDIS_FIRST.map((kind) => ({ title: kind.title, kind })))("on $title", ({ kind }) => {
  needing(describe, ...kind.needs)("holdfast elect", () => {
    let server: TestServer;
    beforeAll(async () => {
      server = await kind.start();
    });
    afterAll(() => server?.stop());
    const holdfast = (...args: string[]): Program => new Program(args, { HOLDFAST_REDIS: server.url });
    const { start, call } = callerOf(() => [server.url]);

    function library(): Holdfast {
      const hf = new Holdfast(server.redis);
      onTestFinished(() => hf.close());
      return hf;
    }

    test("the command leads, and finds election and term in its environment; then nobody leads", async () => {
      const command = 'echo "$HOLDFAST_ELECTION $HOLDFAST_TERM $HOLDFAST_FENCE"; exit 3';
      const { exitCode, stdout, stderr } = await holdfast("elect", "env", "--", "sh", "-c", command).ended();
      expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: "" });
      expect(stdout).toMatch(/^env (\d{16}) \1\n$/);
      expect(await call("leader", "env")).toMatchObject({
        exitCode: 1,
        stdout: "env\n  led by      nobody\n  candidates  0\n",
      });
    });

    test("leader shows the leader, its value and the candidates, for people and as JSON", async () => {
      const first = holdfast(
        "elect",
        "shown",
        "--label",
        "a",
        "--value",
        "http://a\u001b[2J",
        "--",
        ...SLEEPER,
      );
      await first.printed(/^\d+ \d+\n/);
      const second = holdfast("elect", "shown", "--label", "b", "--json", "--", ...SLEEPER);
      await second.printed(/"event":"waiting","election":"shown","ahead":0/, "stderr");
      const { stdout, exitCode } = await call("leader", "shown");
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(
        /^shown\n {2}led by +a \(pid \d+ on .+\)\n {2}term +\d{16}\n {2}value +http:\/\/a\\u\{1b\}\[2J\n {2}left +.+ s\n {2}candidates +1\n +1 {2}b \(pid .+\)\n$/,
      );
      const json = JSON.parse((await call("leader", "shown", "--json")).stdout);
      expect(json).toMatchObject({
        election: "shown",
        leader: {
          label: "a",
          term: expect.stringMatching(/^\d{16}$/),
          announced: true,
          value: "http://a\u001b[2J",
        },
        candidates: [{ label: "b", id: expect.any(String) }],
      });
    });

    test("a command that leads is stopped when the lead is lost, and runs again when it leads again", async () => {
      const program = holdfast("elect", "again", "--term", "2s", "--grace", "1s", "--json", "--", ...SLEEPER);
      const [, pid] = await program.printed(/^(\d+) \d+\n/);
      const hf = library();
      const rival = hf.election("again").campaign();
      const inspector = await hf.inspector();
      await vi.waitFor(async () => expect((await inspector.lock("election:again")).waiting).toBe(1), WITHIN);
      await inspector.forceRelease("election:again");
      const leadership = await rival;
      await program.printed(
        /"event":"lost","election":"again","term":"\d+","reason":"(revoked|taken)"/,
        "stderr",
      );
      await vi.waitFor(() => expect(isAlive(Number(pid))).toBe(false), WITHIN);
      await vi.waitFor(async () => expect((await inspector.lock("election:again")).waiting).toBe(1), WITHIN);
      await leadership.resign();
      const [, first, second] = await program.printed(/^\d+ (\d+)\n\d+ (\d+)\n/);
      expect(BigInt(second as string) > leadership.term && leadership.term > BigInt(first as string)).toBe(
        true,
      );
      program.child.kill("SIGTERM");
      expect((await program.ended()).signal).toBe("SIGTERM");
    });

    test("--once: exit 70 when the lead is lost; --wait: exit 75 when somebody else leads", async () => {
      const program = holdfast("elect", "once", "--once", "--term", "2s", "--grace", "1s", "--", ...SLEEPER);
      await program.printed(/^\d+ \d+\n/);
      const busy = await call("elect", "once", "--wait", "0", "--", "true");
      expect(busy).toMatchObject({ exitCode: 75, stderr: "holdfast: somebody else leads 'once'\n" });
      await (await library().inspector()).forceRelease("election:once");
      const { exitCode, stderr } = await program.ended();
      expect(exitCode).toBe(70);
      expect(stderr).toMatch(
        /^holdfast: the leadership of 'once' \(term \d+\) is over \((revoked|taken)\): stopping/,
      );
    });

    test("Ctrl-C ends a candidate, and a leader with its command, so that another leads at once", async () => {
      const leader = holdfast("elect", "ended", "--", ...SLEEPER);
      await leader.printed(/^\d+ \d+\n/);
      const next = holdfast("elect", "ended", "--json", "--", ...SLEEPER);
      await next.printed(/"event":"waiting"/, "stderr");
      const last = holdfast("elect", "ended", "--json", "--", ...SLEEPER);
      await last.printed(/"event":"waiting"/, "stderr");
      last.child.kill("SIGINT");
      expect((await last.ended()).signal).toBe("SIGINT");
      leader.child.kill("SIGINT");
      expect((await leader.ended()).signal).toBe("SIGINT");
      await next.printed(/^\d+ \d+\n/);
    });

    test("leader --watch says who leads, and nobody", async () => {
      const watch = start("leader", "watched", "--watch");
      await watch.printed(/ nobody leads watched\n$/);
      const leadership = await library()
        .election("watched")
        .campaign({ value: { port: 1 } });
      await watch.printed(new RegExp(` leads watched, term ${leadership.term}: \\{"port":1\\}\n$`));
      await leadership.resign();
      await watch.printed(/\n.* nobody leads watched\n$/);
      watch.kill("SIGINT");
      expect((await watch.ended()).exitCode).toBe(0);
    });

    test("wrong arguments say what is missing", async () => {
      expect(await call("elect", "x", "true")).toMatchObject({
        exitCode: 64,
        stderr: expect.stringContaining("put -- before the command: holdfast elect NAME -- COMMAND"),
      });
      expect(await call("elect", "x", "--term", "5", "--", "true")).toMatchObject({
        exitCode: 64,
      });
    });
  });
});
