/** Runs one case in a lab, whatever the test runner. */
import { AssertionError } from "node:assert";
import type { Case, Lab, LockLab, Need } from "./case.js";
import { within } from "./wait.js";

export type ClosingLab<Surroundings extends Lab> = Surroundings & { close(): Promise<void> };

/** Only a case that hangs meets it, on however busy a machine. */
const TIMEOUT_MS = 60_000;
/** What a case may ask of its lab only when it says that it needs it. */
const needOf: Readonly<Partial<Record<keyof LockLab, Need>>> = {
  peek: "peek",
  tamper: "tamper",
  redis: "redis",
  record: "redis",
  url: "proxy",
  proxy: "proxy",
  freezeServer: "freeze",
  restartServer: "restart",
  spawn: "spawn",
  readNumber: "spawn",
};

/** The reason why the lab cannot run the case; null when it can. */
export function whyNot(
  { needs }: Pick<Case<Lab>, "needs">,
  lacks: Readonly<Partial<Record<Need, string>>>,
): string | null {
  for (const need of needs) {
    const reason = lacks[need];
    if (reason !== undefined) return reason;
  }
  return null;
}

/**
 * Runs the case and closes the lab. Rejects when the case fails, when the lab cannot be closed, and when
 * a promise was rejected that nobody handles: nothing of the library may fail in the background.
 */
export async function runCase<Surroundings extends Lab>(
  each: Case<Surroundings>,
  lab: ClosingLab<Surroundings>,
): Promise<void> {
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", onUnhandled);
  const failures: unknown[] = [];
  try {
    await within(each.run(declared(each, lab)), "the end of the case", TIMEOUT_MS);
  } catch (error) {
    failures.push(error);
  }
  try {
    await lab.close();
  } catch (error) {
    failures.push(error);
  }
  process.off("unhandledRejection", onUnhandled);
  if (unhandled.length > 0) {
    failures.push(
      new AssertionError({ message: `a rejection that nobody handles: ${unhandled.map(String).join("; ")}` }),
    );
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) {
    const texts = failures.map((failure) => (failure instanceof Error ? failure.message : String(failure)));
    throw new AggregateError(failures, texts.join(" | "));
  }
}

/** The lab as the case sees it: a need that the case forgot to name would fail only in a lab that lacks it. */
function declared<Surroundings extends Lab>({ needs }: Case<Surroundings>, lab: Surroundings): Surroundings {
  return new Proxy(lab, {
    get(target, member) {
      const need = needOf[member as keyof LockLab];
      if (need !== undefined && !needs.includes(need))
        throw new TypeError(
          `the case uses "${String(member)}" of the lab, and does not say that it needs it`,
        );
      const value: unknown = Reflect.get(target, member, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
