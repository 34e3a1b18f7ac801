/**
 * The suites of locks over a quorum: the cases of the mutex over three servers, and the cases of Redlock alone over three, four and
 * five. `npm test` takes one mix of client libraries over three; `npm run test:matrix` takes the rest.
 */
import {
  type LabClients,
  type LockCase,
  mutexCases,
  type RedlockCase,
  RedlockLab,
  redlockCases,
  runCase,
  whyNot,
} from "@holdfast/conformance";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type Setup, startQuorum, type TestQuorum } from "./servers.ts";

/** Paths of programs, set by the test command; empty means that there is none. */
const { HOLDFAST_REDIS_SERVER = "", HOLDFAST_VALKEY_SERVER = "" } = process.env;

const redis: Setup = { title: "redis-server", program: HOLDFAST_REDIS_SERVER };
const valkey: Setup = { title: "valkey-server", program: HOLDFAST_VALKEY_SERVER };
const here = [redis, valkey].filter(({ program }) => program !== "");

/** The cases over so many servers, Redis and Valkey in turn, each with the next of the client libraries. */
export function runQuorum(
  count: number,
  clients: readonly LabClients[],
  cases: readonly (LockCase | RedlockCase)[] = [...mutexCases, ...redlockCases],
): void {
  const missing = here.length === 0 ? " (skipped: neither redis-server nor valkey-server here)" : "";
  const title = `${count} nodes, ${clients.map((each) => each.title).join(" and ")}${missing}`;
  describe.skipIf(missing !== "")(title, () => {
    let quorum: TestQuorum;

    beforeAll(async () => {
      const setups = Array.from({ length: count }, (_, place) => here[place % here.length] as Setup);
      quorum = await startQuorum(`${count} nodes`, setups);
    });

    afterAll(() => quorum?.stop());

    for (const each of cases) {
      it(each.name, async ({ skip }) => {
        const lab = new RedlockLab(quorum, clients);
        const reason = whyNot(each, lab.lacks);
        if (reason !== null) {
          await lab.close();
          skip(reason);
        }
        await runCase<RedlockLab>(each, lab);
      });
    }
  });
}
