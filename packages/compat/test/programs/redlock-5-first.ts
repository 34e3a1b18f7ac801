/** The first examples of the README of redlock 5, and every type that it exports. */
import { Redis } from "ioredis";
import Redlock, {
  type ClientExecutionResult,
  ExecutionError,
  type ExecutionResult,
  type ExecutionStats,
  type Lock,
  type RedlockAbortSignal,
  ResourceLockedError,
  type Settings,
} from "redlock";

const settings: Partial<Settings> = {
  driftFactor: 0.01,
  retryCount: 10,
  retryDelay: 200,
  retryJitter: 200,
  automaticExtensionThreshold: 500,
};
const redlock = new Redlock([new Redis(), new Redis(), new Redis()], settings);
redlock.on("error", (error) => {
  if (error instanceof ResourceLockedError) return;
  console.error(error);
});

export async function move(sender: string, recipient: string): Promise<number> {
  return redlock.using([sender, recipient], 5_000, { retryCount: 5 }, async (signal: RedlockAbortSignal) => {
    if (signal.aborted) throw signal.error;
    return 1;
  });
}

export async function work(): Promise<Date> {
  let lock: Lock = await redlock.acquire(["a"], 5_000);
  try {
    lock = await lock.extend(5_000);
    lock = await redlock.extend(lock, 5_000, { retryCount: 0 });
    return new Date(lock.expiration);
  } finally {
    const released: ExecutionResult = await lock.release();
    console.log(await votesOf(released.attempts));
    console.log(lock.value.length, lock.resources.join());
  }
}

async function votesOf(attempts: ReadonlyArray<Promise<ExecutionStats>>): Promise<number[]> {
  const all = await Promise.all(attempts);
  return all.map(({ votesFor, votesAgainst, quorumSize, membershipSize }) => {
    for (const error of votesAgainst.values()) console.error(error.message);
    return votesFor.size + quorumSize + membershipSize;
  });
}

export function text(result: ClientExecutionResult): string {
  return result.vote === "for" ? String(result.value) : result.error.message;
}

/** An error of the program's own. */
export class LateError extends ExecutionError {
  override name = "LateError";
}

export function resourcesOf(lock: Lock): Parameters<Redlock["acquire"]>[0] {
  const maker: Redlock = lock.redlock;
  for (const client of maker.clients) console.log(client.status);
  return lock.resources.map((resource) => `${resource}-copy`);
}

export async function tried(): Promise<number> {
  try {
    // @ts-expect-error a duration is a number
    await redlock.acquire(["a"], "5s");
  } catch (error) {
    if (error instanceof ExecutionError) return (await votesOf(error.attempts)).length;
  }
  await redlock.quit();
  return 0;
}
