/** Rounds of signals beside waits for names: polls, patterns, small buffers, and waits that are given up. */
import type { Heard } from "holdfast";
import { type Caller, type Rounds, round } from "../../workload.js";

interface Names {
  readonly names: readonly [string, string];
  readonly fresh: string;
}

/** @param hear is told what was heard, and by whom */
export function otherKinds(caller: Caller, { names, fresh }: Names, hear: Hear): Rounds["kinds"] {
  return { ...polls(caller, names, hear), ...others(caller, { names, fresh }, hear) };
}

type Hear = (who: string, heard: Heard<string> | null) => void;

const within = ({ plan }: Caller, waitMs: number): number => waitMs + 2 * plan.callTimeoutMs;

function polls(caller: Caller, names: readonly [string, string], hear: Hear): Rounds["kinds"] {
  const { hf, process } = caller;
  return {
    poll: round(
      async (name: string) => {
        const poll = () => hf.signal<string>(name).poll();
        const done = await caller.attempt("poll", name, poll, { withinMs: within(caller, 0) });
        if (done.type === "ok") hear(`${process.name} polling`, done.value);
      },
      1,
      (dice) => [dice.pick(names)],
    ),
    "stop polling": round(
      async (name: string) => hf.signal(name).stopPolling(),
      0.2,
      (dice) => [dice.pick(names)],
    ),
  };
}

function others(caller: Caller, { names, fresh }: Names, hear: Hear): Rounds["kinds"] {
  const { hf, process } = caller;
  const withinMs = (waitMs: number): number => within(caller, waitMs);
  return {
    match: round(
      async (pattern: string, waitMs: number) => {
        const wait = () => hf.signals.matching<string>(pattern).wait({ wait: waitMs });
        const done = await caller.attempt("match", pattern, wait, { waitMs, withinMs: withinMs(waitMs) });
        if (done.type === "ok") hear(`${caller.name} matching`, done.value);
      },
      1,
      (dice) => [dice.pick(["*", "[ab]", "a*"]), dice.pick([20, 200])],
    ),
    "listen for a while": round(
      async (pattern: string | null, buffer: number, forMs: number) => {
        const source = pattern === null ? hf.signal<string>(fresh) : hf.signals.matching<string>(pattern);
        const stop = new AbortController();
        const listen = () => source.listen({ buffer, signal: stop.signal });
        const done = await caller.attempt("listen", pattern ?? fresh, listen, { withinMs: withinMs(0) });
        if (done.type !== "ok") return;
        await process.sleep(forMs);
        for (let heard = done.value.take(); heard; heard = done.value.take())
          hear(`${caller.name} listening for a while`, heard);
        if (done.value.dropped < 0) caller.scene.fail("error", "a listener has dropped fewer than none");
        stop.abort();
      },
      1,
      (dice) => [dice.pick([null, "*", "b"]), dice.pick([1, 100]), dice.pick([0, 50, 300])],
    ),
    "give up": round(
      async (name: string, afterMs: number) => {
        const signal = caller.givesUpAfter(afterMs);
        const wait = () => hf.signal<string>(name).wait({ wait: 1_000, signal });
        const more = { signal, waitMs: 1_000, withinMs: withinMs(1_000) };
        const done = await caller.attempt("wait", name, wait, more);
        if (done.type === "ok") hear(caller.name, done.value);
      },
      0.5,
      (dice) => [dice.pick(names), dice.pick([0, 1, 30])],
    ),
  };
}
