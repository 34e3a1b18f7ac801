/** What a wait that is over says of its requests, and the look at a line that nobody uses. */
import { ManualClock } from "@holdfast/conformance";
import { expect, test } from "vitest";
import { IndeterminateError, UnavailableError } from "../src/errors.js";
import { Keeper } from "../src/lease/keeper.js";
import type { Busy, Claim, LockBackend, StoreClaim } from "../src/locks/backend.js";
import { noAnswer } from "../src/locks/caller-queue.js";
import { Lines } from "../src/locks/lines.js";
import { Mutex } from "../src/locks/mutex.js";
import { Ownership } from "../src/locks/ownership.js";
import { Schedule } from "../src/time/schedule.js";

const away = new UnavailableError("no Redis");
const claimWith = (unsent?: UnavailableError | null): StoreClaim =>
  (unsent === undefined ? {} : { unsent: () => unsent }) as StoreClaim;

test.each([
  { what: "nothing has left", claim: claimWith(away), trouble: away, says: away },
  { what: "a later request has left", claim: claimWith(null), trouble: away, says: IndeterminateError },
  { what: "the store does not tell", claim: claimWith(), trouble: away, says: away },
  { what: "no claim stands any more", claim: null, trouble: away, says: away },
  { what: "there was no trouble", claim: claimWith(null), trouble: null, says: IndeterminateError },
])("$what", ({ claim, trouble, says }) => {
  const error = noAnswer("name", 100, claim, trouble);
  if (says === IndeterminateError) expect(error).toBeInstanceOf(IndeterminateError);
  else expect(error).toBe(says);
});

test("the error of a part that was busy leaves no line behind", async () => {
  const schedule = new Schedule(new ManualClock());
  const random = { fraction: () => 0, id: () => "id" };
  const busy: Busy = { owner: null, ahead: null };
  const backend = {
    claim: (claim: Claim) => ({ claim, attempt: () => Promise.resolve(busy) }),
  } as unknown as LockBackend;
  const keeper = new Keeper({ schedule, random, renew: () => new Promise(() => {}) });
  const self = { host: "here", pid: 7, label: "" };
  const lines = new Lines({ backend, keeper, schedule, random, self }, new Ownership(random));
  const { part } = new Mutex(lines, "name");
  const settings = { waitMs: 0, signal: undefined, minFence: 0n, owner: undefined, unless: undefined };
  expect(await part.tryAcquire(settings, (claim) => claim.attempt())).toBeNull();
  expect(lines.size).toBe(0);
  expect(part.busyError(0).lock).toBe("name");
  expect(lines.size).toBe(0);
});
