/** Acquisitions: claims that are made in one turn of the event loop are sent together, in chunks. */
import { ServerError } from "../../../errors.js";
import { Batcher } from "../../../time/batcher.js";
import type { Schedule } from "../../../time/schedule.js";
import type { LockScripts, ManyAnswer, SentClaim } from "./lock-scripts.js";
import type { ServerClock } from "./server-clock.js";

interface Acquisition {
  readonly sent: SentClaim;
  readonly resolve: (answer: ManyAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Claims in one call: enough to share its cost, few enough that client and server overlap. */
const CHUNK = 16;

export class Acquisitions {
  readonly #scripts: LockScripts;
  readonly #schedule: Schedule;
  readonly #serverClock: ServerClock;
  readonly #batch = new Batcher<Acquisition>(
    CHUNK,
    (acquisitions) => this.#send(acquisitions),
    (acquisitions) => this.#scripts.groupBySlot(acquisitions),
  );

  constructor(scripts: LockScripts, schedule: Schedule, serverClock: ServerClock) {
    this.#scripts = scripts;
    this.#schedule = schedule;
    this.#serverClock = serverClock;
  }

  /** Rejects when the outcome is unknown. */
  add(sent: SentClaim): Promise<ManyAnswer> {
    // The script has no argument for it.
    if (sent.claim.minFence > 0n) return Promise.resolve(this.#notAsked());
    return new Promise((resolve, reject) => {
      this.#scripts.count(sent);
      this.#batch.add({ sent, resolve, reject });
    });
  }

  #notAsked(): ManyAnswer {
    return { verdict: null, sentAt: this.#schedule.clock.now(), ticket: "0" };
  }

  #send(acquisitions: readonly Acquisition[]): void {
    const { claim, common } = (acquisitions[0] as Acquisition).sent;
    const isAlike = ({ sent }: Acquisition): boolean =>
      sent.claim.storeTtlMs === claim.storeTtlMs &&
      sent.claim.turns === claim.turns &&
      sent.common === common;
    if (!acquisitions.every(isAlike)) {
      this.#send(acquisitions.filter(isAlike));
      this.#send(acquisitions.filter((acquisition) => !isAlike(acquisition)));
      return;
    }
    this.#scripts.acquireMany(acquisitions.map(({ sent }) => sent)).then(
      (answers) => this.#settle(acquisitions, answers),
      (error) => {
        for (const { resolve, reject } of acquisitions) {
          // One name may be the reason for a refusal: each claim asks for itself.
          if (error instanceof ServerError && acquisitions.length > 1) resolve(this.#notAsked());
          else reject(error);
        }
      },
    );
  }

  #settle(acquisitions: readonly Acquisition[], answers: readonly ManyAnswer[]): void {
    const [first] = answers;
    if (first) this.#serverClock.read(first.ticket, first.sentAt);
    for (const [place, { resolve }] of acquisitions.entries()) resolve(answers[place] ?? this.#notAsked());
  }
}
