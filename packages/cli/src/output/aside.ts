/**
 * Aside: what a command says while it holds something, or stands in line. A write to a terminal that Ctrl-S has stopped, or to a pipe
 * that nobody reads, waits for its reader and everything else with it: no lease would be renewed, and no command stopped. So another
 * process writes it, cat(1), in a session of its own, and this one waits for nobody.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { Writable } from "node:stream";
import { isatty } from "node:tty";
import type { Exit } from "../exit-codes.js";
import { type Host, host, onHost } from "../host.js";
import { pause } from "../time.js";
import { reportFailure } from "./output.js";

const STDERR = 2;
/** A reader who never reads costs this much memory at most. */
const MOST_WAITING_BYTES = 65_536;
/** How long the end of the command waits until its words are read. Whoever reads later finds them all the same. */
const LAST_WORDS_MS = 1_000;

/** What `work` says on stderr is said aside, also why it failed. */
export async function speakingAside(json: boolean, work: () => Promise<Exit>): Promise<Exit> {
  const at = host();
  // Another host than the process has streams that wait for nobody.
  if (at !== process) return work();
  const aside = new Aside();
  const exit = await onHost(withStderr(at, aside), () =>
    work().catch((error: unknown) => reportFailure(error, json)),
  );
  await aside.finish();
  return exit;
}

/** Nothing of the process is touched before it is used: to ask for its stdin is to take it from the command. */
function withStderr(at: Host, stderr: Aside): Host {
  return {
    get stdin() {
      return at.stdin;
    },
    get stdout() {
      return at.stdout;
    },
    stderr: stderr as unknown as NodeJS.WriteStream,
    on: (name, listener) => at.on(name, listener),
    off: (name, listener) => at.off(name, listener),
  };
}

class Aside extends Writable {
  readonly isTTY = isatty(STDERR);
  #speaker: ChildProcess | null = null;

  constructor() {
    super({ decodeStrings: false });
  }

  override _write(text: string, _encoding: BufferEncoding, done: () => void): void {
    this.#speaker ??= newSpeaker();
    const { stdin } = this.#speaker;
    if (stdin && stdin.writableLength < MOST_WAITING_BYTES) stdin.write(text);
    done();
  }

  async finish(): Promise<void> {
    const speaker = this.#speaker;
    if (!speaker || speaker.exitCode !== null || speaker.signalCode !== null) return;
    const over = new AbortController();
    speaker.once("close", () => over.abort());
    speaker.stdin?.end();
    await pause(LAST_WORDS_MS, over.signal);
    speaker.unref();
    (speaker.stdin as Socket | null)?.unref();
  }
}

function newSpeaker(): ChildProcess {
  // What ends this group or the command's leaves it to write what it has.
  const speaker = spawn("cat", [], {
    stdio: ["pipe", STDERR, "ignore"],
    detached: true,
    cwd: "/",
    env: { PATH: `/usr/bin:/bin:${process.env["PATH"] ?? ""}` },
  });
  speaker.on("error", () => {});
  speaker.stdin?.on("error", () => {}); // the terminal is gone
  return speaker;
}
