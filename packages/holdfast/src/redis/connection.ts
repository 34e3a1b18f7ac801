/**
 * Connection: the port over one client. Calls that are made in one turn of the event loop are sent in one batch. Each
 * call has its own time-out. A script that the server does not know yet is sent as source. While the client is not connected,
 * nothing is sent.
 */
import { ClosedError, type HoldfastError, ServerError, UnavailableError } from "../errors.js";
import { publish } from "../telemetry/events.js";
import { Batcher } from "../time/batcher.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import { Backlog } from "./backlog.js";
import type { ClientTrouble, RedisClient } from "./client.js";
import { MessageConnections } from "./message-connections.js";
import type { MessageConnection, MessageListener, RedisPort, Reply, ReplyListener } from "./port.js";
import { asHoldfastError, ranAgain, refusedAgain } from "./refusals.js";
import type { Script } from "./script.js";
import { groupBySlot, ServerSlots } from "./slots.js";
import { outOfTime, unreachable, warnOnce } from "./unreachable.js";

interface Call {
  /** The words of a command; of a script those behind its hash. */
  readonly words: readonly string[];
  readonly script: Script | null;
  readonly listener: ReplyListener;
  readonly timeoutMs: number;
  /** The server said that it does not know the script. */
  unknown: boolean;
  /** The script was sent as source. */
  asSource: boolean;
  /** Breaks of the connection until it was first sent; null before that. */
  disruptions: number | null;
  /** Replies that had come when it was sent. */
  replies: number;
  /** Null before it is sent and when it is over. */
  alarm: Alarm | null;
}

/** The reply of a server that does not know a script, as the client's error or as ours. */
const NO_SCRIPT = /(^|: )NOSCRIPT /;
/** For how long a client may connect before the process is warned. */
const WARN_AFTER_MS = 500;
/** A connection of our own that has not answered for so long is half-open: the other end has dropped it, and this end does not know. */
const SILENT_MS = 5_000;
/** An alarm that rings later than this shows that the process was stalled. */
const STALL_MS = 20;
/** In this time a process reads at least one answer of those that have arrived. */
const READ_MS = 5;

export class Connection implements RedisPort {
  readonly #client: RedisClient;
  readonly #ownsClient: boolean;
  readonly #schedule: Schedule;
  readonly #known = new Set<string>();
  readonly #messages: MessageConnections;
  readonly #batch = new Batcher<Call>(Number.POSITIVE_INFINITY, (calls) => this.#send(calls));
  readonly #onUnanswered = new Set<() => void>();
  readonly #backlog: Backlog<Call>;
  /** Whether calls may wait there. */
  #hasBacklog = false;
  #closed = false;
  #disruptions = 0;
  #writes = 0;
  #replies = 0;
  /** Calls that were sent, and are not over. */
  #underWay = 0;
  /** Since when no reply has come, where calls have run out of time. */
  #silence: { readonly replies: number; readonly sinceMs: number } | null = null;
  /** Warns the process of a client that never connected. */
  #warning: Alarm | null = null;
  readonly #slots = new ServerSlots();
  readonly #onClosed = new Set<(error: () => UnavailableError) => void>();
  #hasToldClosed = false;
  readonly #stops: readonly ((() => void) | undefined)[];

  constructor(client: RedisClient, ownsClient: boolean, schedule: Schedule) {
    this.#client = client;
    this.#ownsClient = ownsClient;
    this.#schedule = schedule;
    this.#messages = new MessageConnections(client, schedule);
    this.#backlog = new Backlog({
      client,
      send: (calls) => this.#transmit(calls),
      refuse: (calls, error) => {
        for (const call of calls) this.#refuse(call, error);
      },
    });
    this.#stops = [
      client.onDisruption(() => {
        this.#disruptions += 1;
        this.#slots.forget();
      }),
      // A client tells of its end before its own state shows it.
      client.onEnd?.(() => process.nextTick(() => this.#notice(client.trouble()))),
    ];
  }

  /** Host and port of the server; null: the client does not tell. */
  get address(): string | null {
    return this.#client.address;
  }

  get trouble(): string | null {
    return this.#client.trouble()?.text ?? null;
  }

  get rejectsCalls(): boolean {
    return this.#client.trouble()?.rejects ?? false;
  }

  unavailable(): UnavailableError | null {
    const trouble = this.#client.trouble();
    return trouble && unreachable(this.#client, trouble, this.#backlog.failure);
  }

  get writes(): number {
    return this.#writes;
  }

  get zeroListenersMeansGone(): boolean {
    return this.#client.zeroListenersMeansGone;
  }

  get reportsBreaks(): boolean {
    return this.#client.reportsBreaks;
  }

  slotOf(key: string): number {
    return this.#slots.of(key);
  }

  get disruptions(): number {
    return this.#disruptions;
  }

  script(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    timeoutMs: number,
  ): Promise<Reply> {
    return this.#promise(script, [String(keys.length), ...keys, ...args], timeoutMs);
  }

  command(args: readonly string[], timeoutMs: number): Promise<Reply> {
    return this.#promise(null, args, timeoutMs);
  }

  ask(script: Script, words: readonly string[], timeoutMs: number, listener: ReplyListener): void {
    this.#call(script, words, timeoutMs, listener, true);
  }

  connect(): void {
    if (this.#client.connectsOnUse && !this.#closed && !this.rejectsCalls) this.#backlog.probe();
  }

  onUnanswered(listener: () => void): void {
    this.#onUnanswered.add(listener);
  }

  onClosed(listener: (error: () => UnavailableError) => void): void {
    this.#onClosed.add(listener);
  }

  openMessages(listener: MessageListener): MessageConnection {
    return this.#messages.open(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const stop of this.#stops) stop?.();
    this.#schedule.cancel(this.#warning);
    for (const call of this.#backlog.takeAll())
      this.#end(call, new ClosedError("hf.close() came before the client was connected"));
    this.#messages.close();
    if (this.#ownsClient) this.#client.close();
  }

  #promise(script: Script | null, words: readonly string[], timeoutMs: number): Promise<Reply> {
    return new Promise((replied, failed) => this.#call(script, words, timeoutMs, { replied, failed }));
  }

  #call(
    script: Script | null,
    words: readonly string[],
    timeoutMs: number,
    listener: ReplyListener,
    isBatch = false,
  ): void {
    if (this.#closed) {
      process.nextTick(() => listener.failed(new ClosedError("a call to Redis came after hf.close()")));
      return;
    }
    const call: Call = {
      words,
      script,
      listener,
      timeoutMs,
      unknown: false,
      asSource: false,
      disruptions: null,
      replies: 0,
      alarm: null,
    };
    const isQuiet = this.#underWay === 0 && this.#batch.isEmpty && !this.#hasBacklog;
    // A client that is not connected has listeners, and none may be called within a call.
    if (isBatch && isQuiet && this.#client.trouble() === null) this.#send([call]);
    else this.#batch.add(call);
  }

  /** Tells those who wait, once. A client that holdfast made is closed only while holdfast connects it anew. */
  #notice(trouble: ClientTrouble | null): void {
    if (this.#ownsClient) return;
    const hadTold = this.#hasToldClosed;
    this.#hasToldClosed = trouble?.rejects ?? false;
    if (!trouble?.rejects || hadTold) return;
    const outcome = this.#writes > 0 ? "the wait is over" : undefined;
    const error = () => unreachable(this.#client, trouble, this.#backlog.failure, outcome);
    for (const listener of this.#onClosed) listener(error);
  }

  #send(calls: readonly Call[]): void {
    const trouble = this.#client.trouble();
    this.#notice(trouble);
    if (trouble === null) {
      if (this.#hasBacklog) this.#backlog.flush();
      this.#hasBacklog = false;
      this.#transmit(calls);
      return;
    }
    if (trouble.rejects) {
      warnOnce(this.#client, trouble, null);
      for (const call of calls) this.#refuse(call, null);
      return;
    }
    for (const call of calls) {
      call.alarm ??= this.#schedule.after(call.timeoutMs, () => this.#ring(call));
      call.replies = this.#replies;
    }
    if (this.#writes === 0) this.#warning ??= this.#schedule.after(WARN_AFTER_MS, () => this.#warn());
    this.#backlog.add(calls);
    this.#hasBacklog = true;
  }

  #warn(): void {
    const trouble = this.#client.trouble();
    if (trouble && this.#writes === 0) warnOnce(this.#client, trouble, this.#backlog.failure);
  }

  #transmit(calls: readonly Call[]): void {
    if (this.#writes === 0) this.#schedule.cancel(this.#warning); // its timer would keep a process that is done
    this.#writes += 1;
    // One write reaches one server.
    if (calls.length === 1) this.#write(calls);
    else
      for (const batch of groupBySlot(calls, (call) => this.#client.slotOf(keyOf(call)))) this.#write(batch);
  }

  #write(calls: readonly Call[]): void {
    const disruptions = this.#disruptions;
    let replies: readonly Promise<unknown>[];
    try {
      replies = this.#client.send(calls.map((call) => this.#words(call)));
    } catch (error) {
      replies = calls.map(() => Promise.reject(error));
    }
    // After the write, so that the server works meanwhile.
    const { monoMs } = this.#schedule.clock.now();
    for (let place = 0; place < calls.length; place += 1) {
      const call = calls[place] as Call;
      call.alarm ??= this.#schedule.at(monoMs + call.timeoutMs, () => this.#ring(call));
      if (call.disruptions === null) this.#underWay += 1;
      call.disruptions ??= disruptions;
      call.replies = this.#replies;
      (replies[place] as Promise<unknown>).then(
        (value) => {
          this.#replies += 1;
          this.#answered(call, value as Reply);
        },
        (error: unknown) => this.#fail(call, error),
      );
    }
  }

  #answered(call: Call, reply: Reply): void {
    if (!call.alarm) return;
    if (call.script?.tellsOwnRun && this.#mayBeOfCopy(call)) {
      this.#end(call, ranAgain(nameOf(call)));
      return;
    }
    this.#over(call);
    call.listener.replied(reply);
  }

  #over(call: Call): void {
    this.#schedule.cancel(call.alarm);
    call.alarm = null;
    if (call.disruptions !== null) this.#underWay -= 1;
  }

  #mayBeOfCopy({ disruptions }: Call): boolean {
    return disruptions !== this.#disruptions;
  }

  /** In small letters, as ioredis looks them up. */
  #words(call: Call): readonly string[] {
    const { script, words, unknown } = call;
    if (!script) return words;
    if (!unknown && this.#known.has(script.sha1)) return ["evalsha", script.sha1, ...words];
    // The server knows it for every later call, because calls arrive in the order in which they are sent.
    this.#known.add(script.sha1);
    call.asSource = true;
    return ["eval", script.source, ...words];
  }

  #fail(call: Call, error: unknown): void {
    if (!call.alarm) return;
    if (call.script && !call.unknown && NO_SCRIPT.test((error as Error)?.message)) {
      call.unknown = true;
      if (this.#known.delete(call.script.sha1))
        publish("holdfast:server:forgot", () => ({ what: "scripts" }));
      this.#batch.add(call);
      return;
    }
    this.#forget(call);
    const failure = asHoldfastError(error, nameOf(call));
    this.#slots.refused(failure);
    const isOfCopy = failure instanceof ServerError && this.#mayBeOfCopy(call);
    this.#end(call, isOfCopy ? refusedAgain(nameOf(call), failure) : failure);
  }

  /** @param error by which the client rejected a command in place of the call; null: it rejects whatever is sent */
  #refuse(call: Call, error: unknown): void {
    const answer = error === null ? null : asHoldfastError(error, nameOf(call));
    this.#end(call, answer instanceof ServerError ? answer : this.#notSent());
  }

  #notSent(): UnavailableError {
    return this.unavailable() ?? new UnavailableError("the client was connected too late for this call");
  }

  #end(call: Call, error: HoldfastError): void {
    this.#over(call);
    call.listener.failed(error);
  }

  /** A source without a reply, or with a refusal, may never have been loaded. */
  #forget({ script, asSource }: Call): void {
    if (script && asSource) this.#known.delete(script.sha1);
  }

  /** After a stall of the process, the alarm rings before the process has read the answers that arrived during the stall. */
  #ring(call: Call): void {
    const lateMs = this.#schedule.clock.now().monoMs - (call.alarm?.dueMs ?? 0);
    if (lateMs < STALL_MS) this.#giveUp(call);
    else this.#giveUpBehind(call, this.#schedule.clock.now().monoMs + lateMs);
  }

  /** Waits for as long as answers come, and at most as long as the stall took. */
  #giveUpBehind(call: Call, untilMs: number): void {
    const replies = this.#replies;
    call.alarm = this.#schedule.after(READ_MS, () => {
      const isOver = replies === this.#replies || this.#schedule.clock.now().monoMs >= untilMs;
      if (isOver) this.#giveUp(call);
      else this.#giveUpBehind(call, untilMs);
    });
  }

  /** The listener is the last to hear: it may call again. */
  #giveUp(call: Call): void {
    const isUnsent = this.#backlog.delete(call);
    const error = isUnsent
      ? this.#notSent()
      : outOfTime(nameOf(call), call.timeoutMs, this.#client.trouble());
    if (!isUnsent) this.#forget(call);
    this.#suspect(call);
    if (!isUnsent) for (const listener of this.#onUnanswered) listener();
    this.#end(call, error);
  }

  /** A call has run out of time. If no call had a reply for long, a new connection may bring some, also while this one still connects. */
  #suspect({ replies, timeoutMs }: Call): void {
    if (replies !== this.#replies) return;
    const { monoMs } = this.#schedule.clock.now();
    if (this.#silence?.replies !== replies) this.#silence = { replies, sinceMs: monoMs - timeoutMs };
    if (monoMs - this.#silence.sinceMs < SILENT_MS) return;
    this.#silence = { replies, sinceMs: monoMs };
    this.#client.renew?.();
  }
}

function nameOf({ script, words }: Call): string | undefined {
  return script ? "EVALSHA" : words[0];
}

/** The first key: behind the number of keys of a script, or behind the name of a command. */
function keyOf({ words }: Call): string {
  return words[1] ?? "";
}
