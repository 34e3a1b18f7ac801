/** The command that runs under a lock, with every process that it starts in its group. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { EXIT, type Exit } from "../exit-codes.js";
import { Failure } from "../failure.js";
import { ignoresHangUp } from "../hang-up.js";
import { monotonicMs, pause } from "../time.js";
import { postGuard } from "./guard.js";
import { isInForeground, isInGroupOf, ownGroup, type ProcessGroup, sharedGroup } from "./process-group.js";
import { hasTerminal } from "./terminal.js";

export interface Job {
  readonly ended: Promise<Exit>;
  /**
   * SIGTERM to its group, and SIGKILL to what is left of it after the grace. Resolves when all have gone.
   * @param onRefused is called at once when a process may not be signalled, and is waited for; and when one hangs in the kernel, which is not
   */
  stop(onRefused: () => void): Promise<void>;
  /** It has ended: signals are this process's own again. */
  dismiss(): void;
}

/**
 * The command begins when the guard knows whom to end, at the word that it may. Without the word, holdfast
 * was killed in between, and nothing begins.
 */
const STARTER = 'read -r word <&3 || exit 1; exec 3<&-; exec "$@"';
/** As this process was told to: Node.js lets its children end by a hang-up. */
const IGNORES_HANG_UP = "trap '' HUP; ";
/** Tells a holdfast that the command starts in whose group it is. */
const OWNS_GROUP = "export HOLDFAST_GROUP=$$; ";
const BASH = "/bin/bash";
const DEFAULT_PATH = "/usr/bin:/bin";
const LOOK_AGAIN_MS = 50;
/** At one that may work for hours. */
const LOOK_SELDOM_MS = 1_000;
/** Even SIGKILL takes a moment; who does not go then hangs in the kernel. */
const KILL_TIMEOUT_MS = 2_000;

const RELAYED = ["SIGTERM", "SIGUSR1", "SIGUSR2", ...(ignoresHangUp() ? [] : ["SIGHUP" as const])] as const;
/** On a terminal the kernel sends these to the command as well. */
const FROM_KEYS = ["SIGINT", "SIGQUIT"] as const;

/**
 * The command runs, and gets the signals that come to holdfast, as soon as this returns: nothing that comes
 * in between ends holdfast alone.
 * @param onContinue is called when this process was stopped and goes on, before the command does.
 * @throws {Failure} 127: there is no such command; 126: it cannot be executed.
 */
export async function startJob(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  graceMs: number,
  onContinue: () => void,
): Promise<Job> {
  const [program = "", ...args] = command;
  const shared = hasTerminal() ? sharedGroup() : null;
  const outer = Number(env["HOLDFAST_GROUP"] ?? 0);
  const guard = postGuard(graceMs, outer > 0 && isInGroupOf(outer) ? outer : null);
  const relay = relaySignals(shared !== null, onContinue);
  const dismiss = (): void => {
    relay.end();
    guard.dismiss();
  };
  let child: ChildProcess;
  try {
    checkProgram(program, env["PATH"] ?? DEFAULT_PATH);
    const [shell, ...options] = starterShell(env);
    const starter = `${ignoresHangUp() ? IGNORES_HANG_UP : ""}${shared ? "" : OWNS_GROUP}${STARTER}`;
    child = spawn(shell, [...options, "-c", starter, "holdfast-start", program, ...args], {
      stdio: ["inherit", "inherit", "inherit", "pipe"],
      env,
      detached: shared === null,
    });
    if (child.pid === undefined) throw notStarted(shell, (await once(child, "error"))[0]);
  } catch (error) {
    dismiss();
    throw error;
  }
  const group = shared ?? ownGroup(child.pid);
  guard.watch(shared ? child.pid : -child.pid);
  relay.to(group);
  const word = child.stdio[3] as Writable;
  word.on("error", () => {}); // a signal came first
  word.end("go\n");
  return { ended: endOf(child), stop: (onRefused) => stop(group, graceMs, onRefused), dismiss };
}

/** The shell of Debian drops variables that no shell could name, such as `spring.url`; bash hands them on. */
function starterShell(env: NodeJS.ProcessEnv): readonly [shell: string, ...options: string[]] {
  const isOdd = Object.keys(env).some((name) => !/^[A-Za-z_]\w*$/.test(name));
  // With -p it reads no file of the user's, and takes no functions from the environment.
  return isOdd && existsSync(BASH) ? [BASH, "-p"] : ["/bin/sh"];
}

async function endOf(child: ChildProcess): Promise<Exit> {
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  return code ?? (signal as NodeJS.Signals);
}

/** @throws {Failure} as the shell would say it, but before anything has started. */
function checkProgram(program: string, path: string): void {
  const places = program.includes("/")
    ? [program]
    : path.split(":").map((folder) => join(folder || ".", program));
  let refused: NodeJS.ErrnoException | null = null;
  for (const place of places) {
    try {
      accessSync(place, constants.X_OK);
      if (statSync(place).isFile()) return;
      refused = Object.assign(new Error("not a file"), { code: "EACCES" });
    } catch (error) {
      const cause = error as NodeJS.ErrnoException;
      if (cause.code !== "ENOENT" && cause.code !== "ENOTDIR") refused = cause;
    }
  }
  throw notStarted(program, refused ?? Object.assign(new Error("not found"), { code: "ENOENT" }));
}

function notStarted(program: string, error: NodeJS.ErrnoException): Failure {
  if (error.code === "ENOENT")
    return new Failure("NOT_FOUND", EXIT.notFound, `there is no command ${program}`);
  return new Failure("NOT_EXECUTABLE", EXIT.notExecutable, `cannot execute ${program} (${error.code})`);
}

interface Relay {
  to(group: ProcessGroup): void;
  end(): void;
}

/** Listens before the command starts. What comes until then is heard after it, when this code has run. */
function relaySignals(onTerminal: boolean, onContinue: () => void): Relay {
  let target: ProcessGroup | null = null;
  const relay = (name: NodeJS.Signals): void => void target?.signal(name);
  const leaveToTerminal = (name: NodeJS.Signals): void => {
    if (!isInForeground()) relay(name);
  };
  // Nobody renews while this process is stopped, so the command must not run on alone.
  const suspend = (): void => {
    target?.signal("SIGSTOP");
    process.kill(process.pid, "SIGSTOP");
  };
  const resume = (): void => {
    onContinue();
    target?.signal("SIGCONT");
  };
  const listeners: (readonly [NodeJS.Signals, (name: NodeJS.Signals) => void])[] = [
    ...RELAYED.map((name) => [name, relay] as const),
    ...FROM_KEYS.map((name) => [name, onTerminal ? leaveToTerminal : relay] as const),
  ];
  // On a terminal both are stopped and continued by the shell.
  if (!onTerminal) listeners.push(["SIGTSTP", suspend], ["SIGCONT", resume]);
  for (const [name, listener] of listeners) process.on(name, listener);
  return {
    to(group) {
      target = group;
    },
    end() {
      for (const [name, listener] of listeners) process.off(name, listener);
    },
  };
}

async function stop(group: ProcessGroup, graceMs: number, onRefused: () => void): Promise<void> {
  const isHeard = group.signal("SIGTERM");
  group.signal("SIGCONT"); // One that is stopped would not hear it.
  if (!isHeard) queueMicrotask(onRefused);
  if (await goneWithin(group, graceMs)) return;
  group.signal("SIGKILL");
  if (!isHeard) {
    while (group.alive()) await pause(LOOK_SELDOM_MS);
    return;
  }
  // A process may start another while the list is read.
  const isGone = await goneWithin(group, KILL_TIMEOUT_MS, () => group.signal("SIGKILL"));
  if (!isGone) onRefused();
}

async function goneWithin(group: ProcessGroup, timeoutMs: number, again?: () => void): Promise<boolean> {
  const untilMs = monotonicMs() + timeoutMs;
  while (group.alive()) {
    const leftMs = untilMs - monotonicMs();
    if (leftMs <= 0) return false;
    await pause(Math.min(LOOK_AGAIN_MS, leftMs));
    again?.();
  }
  return true;
}
