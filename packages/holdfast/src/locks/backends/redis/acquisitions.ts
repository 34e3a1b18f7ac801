/** Acquisitions: claims that are made in one turn of the event loop are sent together, in chunks. */
import { type HoldfastError, isRefusal, ServerError } from "../../../errors.js";
import type { Reply, ReplyListener } from "../../../redis/port.js";
import type { AnswerListener } from "../../../redis/reply.js";
import { Batcher } from "../../../time/batcher.js";
import type { Instant } from "../../../time/clock.js";
import type { Schedule } from "../../../time/schedule.js";
import { type LockScripts, type ManyAnswer, parseFirst, type SentClaim } from "./lock-scripts.js";
import type { ServerClock } from "./server-clock.js";

/** Hears the answer to the first question of one claim. */
type Asker = AnswerListener<ManyAnswer>;

/** A claim on its way. Where it goes alone, it hears the reply itself. */
class Acquisition implements ReplyListener {
  readonly sent: SentClaim;
  readonly asker: Asker;
  readonly #serverClock: ServerClock;
  /** Before the question left. */
  readonly #sentAt: Instant;

  constructor(sent: SentClaim, asker: Asker, serverClock: ServerClock, now: Instant) {
    this.sent = sent;
    this.asker = asker;
    this.#serverClock = serverClock;
    this.#sentAt = now;
  }

  replied(reply: Reply): void {
    let answer: ManyAnswer;
    try {
      answer = parseFirst(reply, this.sent.claim.id, this.#sentAt);
    } catch (error) {
      this.asker.failed(error as HoldfastError);
      return;
    }
    this.sent.unanswered -= 1;
    this.#serverClock.read(Number(answer.ticket), this.#sentAt);
    this.asker.answered(answer);
  }

  failed(error: HoldfastError): void {
    if (isRefusal(error)) this.sent.unanswered -= 1;
    this.asker.failed(error);
  }
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

  /** Asks for a lock that is free. */
  add(sent: SentClaim, asker: Asker): void {
    // The script has no argument for it.
    if (sent.claim.minFence > 0n) {
      process.nextTick(() => asker.answered(this.#notAsked()));
      return;
    }
    this.#scripts.count(sent);
    this.#batch.add(new Acquisition(sent, asker, this.#serverClock, this.#schedule.clock.now()));
  }

  #notAsked(): ManyAnswer {
    return { verdict: null, sentAt: this.#schedule.clock.now(), ticket: "0" };
  }

  #send(acquisitions: readonly Acquisition[]): void {
    const [first] = acquisitions as readonly [Acquisition];
    if (acquisitions.length === 1) {
      this.#scripts.acquireOne(first.sent, first);
      return;
    }
    const { claim, common } = first.sent;
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
      (answers) => {
        const [first] = answers;
        if (first) this.#serverClock.read(Number(first.ticket), first.sentAt);
        for (const [place, { asker }] of acquisitions.entries())
          asker.answered(answers[place] ?? this.#notAsked());
      },
      (error) => {
        for (const { asker } of acquisitions) {
          // One name may be the reason for a refusal: each claim asks for itself.
          if (error instanceof ServerError) asker.answered(this.#notAsked());
          else asker.failed(error);
        }
      },
    );
  }
}
