/**
 * The cases over a quorum: those of the mutex over three nodes, with libraries in turn, and those of Redlock alone over three, four and five
 * nodes in turn, with every library. A node is a Redis or a Valkey, in turn. A case that waits runs once: it runs in virtual time as well.
 */
import {
  type Case,
  mutexCases,
  needingAny,
  program as programOf,
  RedlockLab,
  redlockCases,
} from "@holdfast/conformance";
import { afterAll, beforeAll, describe } from "vitest";
import { everyClient } from "./clients.ts";
import { declareCases } from "./declare.ts";
import { type Setup, startQuorum, type TestQuorum } from "./servers.ts";

type QuorumCase = Case<RedlockLab>;

const redis: Setup = { title: "redis-server", program: "redis-server" };
const valkey: Setup = { title: "valkey-server", program: "valkey-server" };
const here = [redis, valkey].filter(({ program }) => programOf(program) !== "");
const counts = [3, 4, 5];
/** Libraries of one Redlock. */
const MIXED = 3;
/** So many mixes have every library. */
const mixes = Math.ceil(everyClient().length / MIXED);

/** The mixes with which a case runs over so many nodes. */
function mixesOf({ waits }: QuorumCase, at: number, count: number): number[] {
  const all = waits ? [at % mixes] : Array.from({ length: mixes }, (_, mix) => mix);
  return all.filter((mix) => counts[(at + mix) % counts.length] === count);
}

/** All cases over so many nodes. */
export function runQuorum(count: number): void {
  for (let mix = 0; mix < mixes; mix += 1)
    runMix(count, mix, [
      ...(count === 3 ? mutexCases.filter((_, at) => at % mixes === mix) : []),
      ...redlockCases.filter((each, at) => mixesOf(each, at, count).includes(mix)),
    ]);
}

/** A share of those over three nodes that wait for nothing, with one mix. */
export function runSomeQuorum(): void {
  const quick = [...mutexCases, ...redlockCases].filter(({ waits }) => !waits);
  runMix(
    3,
    1,
    quick.filter((_, at) => at % mixes === 1),
  );
}

function runMix(count: number, mix: number, cases: readonly QuorumCase[]): void {
  const every = everyClient();
  const clients = every.slice(mix * MIXED, (mix + 1) * MIXED);
  const title = `${count} nodes, ${clients.map((each) => each.title).join(" and ")}`;
  needingAny(
    describe,
    "redis-server",
    "valkey-server",
  )(title, () => {
    let quorum: TestQuorum;

    beforeAll(async () => {
      const setups = Array.from({ length: count }, (_, place) => here[place % here.length] as Setup);
      quorum = await startQuorum(`${count} nodes`, setups);
    });

    afterAll(() => quorum?.stop());

    declareCases(cases, () => new RedlockLab(quorum, clients));
  });
}
