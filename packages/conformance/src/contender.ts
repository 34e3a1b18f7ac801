/** The orders that most cases give to a contender, as work that it performs: the same for a child process and for one of a simulated world. */
import type { Contender, ContenderHands, ContenderTerms } from "./case.js";

/** What a kind of contender brings: the rest is said once for all. */
export type ContenderBody = Omit<Contender, "acquire" | "release" | "count" | "holds">;

export function contenderOf(body: ContenderBody): Contender {
  return {
    perform: (work, argument) => body.perform(work, argument),
    acquire: (terms) => body.perform(acquire, terms),
    release: () => body.perform(release, null),
    count: (terms) => body.perform(count, terms),
    holds: () => body.perform(holds, null),
    freeze: () => body.freeze(),
    thaw: () => body.thaw(),
    exit: () => body.exit(),
    kill: () => body.kill(),
    dismiss: () => body.dismiss(),
  };
}

// These travel as text: nothing in them comes from outside.

const acquire = async (
  { holdfast, kept }: ContenderHands,
  { name, ttlMs, waitMs }: ContenderTerms,
): Promise<bigint | null> => {
  try {
    kept["lease"] = await holdfast.mutex(name, { ttl: ttlMs }).acquire({ wait: waitMs });
    return (kept["lease"] as { fence: bigint }).fence;
  } catch (error) {
    if ((error as { code?: string }).code === "ACQUIRE_TIMEOUT") return null;
    throw error;
  }
};

const release = ({ kept }: ContenderHands): Promise<string> =>
  (kept["lease"] as { release(): Promise<string> }).release();

const holds = ({ kept }: ContenderHands): boolean => (kept["lease"] as { valid: boolean }).valid;

const count = async (
  { holdfast, redis }: ContenderHands,
  { name, ttlMs, waitMs, key, rounds }: ContenderTerms & { readonly key: string; readonly rounds: number },
): Promise<void> => {
  const mutex = holdfast.mutex(name, { ttl: ttlMs });
  for (let round = 0; round < rounds; round++) {
    await mutex.run(
      async (held) => {
        const seen = Number(await redis.get(key));
        held.check();
        await redis.set(key, String(seen + 1));
      },
      { wait: waitMs },
    );
  }
};
