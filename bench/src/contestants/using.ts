/** Libraries that renew only around a function: the function ends when the leases are to be released. */
import { type HeldMany, takeAll } from "./contestant.js";

interface Signal {
  readonly aborted: boolean;
}

type Using = (name: string, work: (signal: Signal) => Promise<void>) => Promise<void>;

export async function holdByUsing(names: readonly string[], using: Using): Promise<HeldMany> {
  const signals: Signal[] = [];
  let failed = 0;
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const rounds: Promise<void>[] = [];
  const start = (name: string) =>
    new Promise<void>((started, broken) => {
      const round = using(name, (signal) => {
        signals.push(signal);
        started();
        return ended;
      });
      rounds.push(
        round.catch((error: unknown) => {
          failed += 1;
          broken(error);
        }),
      );
    });
  await takeAll(names, start);
  return {
    // A round that failed has an aborted signal as well, or never began.
    lost: () => Math.max(failed, signals.filter(({ aborted }) => aborted).length),
    async release() {
      end();
      await Promise.all(rounds);
    },
  };
}
