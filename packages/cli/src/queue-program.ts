/** The commands about queues, as `program.ts` has those about locks. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { durationOption, parseDuration, parseWait } from "./duration.js";
import { host } from "./host.js";
import { QUEUE_HELP } from "./queue-help.js";
import { settingsOf } from "./settings.js";

type Finish = (exitCode: number) => void;

const PATTERN = "names: * is anything, ? one character, [ab] one of these";
const LONGEST_COUNT = 15;

export function addQueue(program: Command, finish: Finish): void {
  const queue = program
    .command("queue")
    .summary("push, take, count and mend the messages of queues")
    .description("Does to queues by hand what programs do, and what only people do.")
    .addHelpText("before", ({ error }) =>
      error ? "holdfast: a command is missing: ls, push, pop, peek, state, pause, resume, drain …\n" : "",
    )
    .addHelpText("after", QUEUE_HELP.all);
  addList(queue, finish);
  addPush(queue, finish);
  addPop(queue, finish);
  addPeek(queue, finish);
  addInFlight(queue, finish);
  addDelayed(queue, finish);
  addCancel(queue, finish);
  addState(queue, finish);
  addPause(queue, finish);
  addDrain(queue, finish);
  addDead(queue, finish);
  addReset(queue, finish);
}

function addList(queue: Command, finish: Finish): void {
  queue
    .command("ls")
    .summary("list the queues, and how many messages they have")
    .description("Lists the queues that have been used and not reset.")
    .argument("[pattern]", PATTERN, "*")
    .addHelpText("after", QUEUE_HELP.ls)
    .action(async (pattern: string, _: unknown, self: Command) => {
      const { list } = await import("./commands/look.js");
      finish(await list({ kind: "queue", pattern, all: false }, settingsOf(self.optsWithGlobals())));
    });
}

function addPush(queue: Command, finish: Finish): void {
  const forText = "how long --dedupe counts";
  queue
    .command("push")
    .summary("push a message, or each line of stdin")
    .description("Pushes BODY, which is JSON, to the queue NAME, and prints the id of the message.")
    .argument("<name>", "the queue")
    .argument("<body>", "the message; - for stdin, one message a line")
    .addOption(new Option("--text", "BODY is text, and not JSON"))
    .addOption(new Option("--bytes", "BODY is bytes; all of stdin is one message").conflicts("text"))
    .addOption(new Option("--delay <duration>", "deliver it no earlier than that").argParser(parseDuration))
    .option("--dedupe <id>", "push nothing when a message with this id was pushed before")
    .addOption(new Option("--dedupe-for <duration>", `${forText} (default: 1h)`).argParser(parseDuration))
    .addOption(new Option("--order <order>", "of a new queue (default: fifo)").choices(["fifo", "lifo"]))
    .addOption(new Option("--max-length <count>", "refuse when it has so many messages").argParser(aboveZero))
    .addHelpText("after", QUEUE_HELP.push)
    .action(async (name: string, body: string, _: unknown, self: Command) => {
      const {
        text,
        bytes,
        delay: delayMs,
        dedupe: id,
        dedupeFor,
        order,
        maxLength,
        ...rest
      } = self.optsWithGlobals();
      const form = text ? "text" : bytes ? "bytes" : "json";
      if (id === undefined && dedupeFor !== undefined) self.error("error: --dedupe-for needs --dedupe");
      if (id !== undefined && body === "-" && form !== "bytes")
        self.error("error: --dedupe is for one message, and every line of stdin is one");
      const { push } = await import("./commands/queue.js");
      const dedupe = id === undefined ? undefined : { id, for: dedupeFor };
      finish(await push({ name, body, form, delayMs, dedupe, order, maxLength }, settingsOf(rest)));
    });
}

function addPop(queue: Command, finish: Finish): void {
  queue
    .command("pop")
    .summary("print a message, and take it away")
    .description("Takes the next message from the queue NAME, prints it, and deletes it.")
    .argument("<name>", "the queue")
    .addOption(
      durationOption("--wait <duration>", "longest wait: 0 is one look, or forever", parseWait, "10s"),
    )
    .option("--raw", "print text without quotes, and bytes as they are")
    .addHelpText("after", QUEUE_HELP.pop)
    .action(async (name: string, _: unknown, self: Command) => {
      const { wait: waitMs, raw, ...rest } = self.optsWithGlobals();
      const { pop } = await import("./commands/queue.js");
      finish(await pop({ name, waitMs, raw: raw === true }, settingsOf(rest)));
    });
}

function addPeek(queue: Command, finish: Finish): void {
  queue
    .command("peek")
    .summary("print the next messages, and leave them")
    .description("Prints the next messages of the queue NAME, and leaves them there.")
    .argument("<name>", "the queue")
    .addOption(countOption(10))
    .addHelpText("after", QUEUE_HELP.peek)
    .action(async (name: string, _: unknown, self: Command) => {
      const { count, ...rest } = self.optsWithGlobals();
      const { peek } = await import("./commands/queue.js");
      finish(await peek({ name, count }, settingsOf(rest)));
    });
}

function addInFlight(queue: Command, finish: Finish): void {
  queue
    .command("in-flight")
    .summary("print the messages that processes have")
    .description("Prints the messages of the queue NAME that processes have, and when each would come back.")
    .argument("<name>", "the queue")
    .addOption(countOption(100))
    .addHelpText("after", QUEUE_HELP.inFlight)
    .action(async (name: string, _: unknown, self: Command) => {
      const { count, ...rest } = self.optsWithGlobals();
      const { inFlight } = await import("./commands/queue.js");
      finish(await inFlight({ name, count }, settingsOf(rest)));
    });
}

function addDelayed(queue: Command, finish: Finish): void {
  queue
    .command("delayed")
    .summary("print the messages that wait for their time")
    .description("Prints the messages of the queue NAME that are delayed, and when each is due.")
    .argument("<name>", "the queue")
    .addOption(countOption(100))
    .addHelpText("after", QUEUE_HELP.delayed)
    .action(async (name: string, _: unknown, self: Command) => {
      const { count, ...rest } = self.optsWithGlobals();
      const { delayed } = await import("./commands/queue.js");
      finish(await delayed({ name, count }, settingsOf(rest)));
    });
}

function addCancel(queue: Command, finish: Finish): void {
  queue
    .command("cancel")
    .summary("delete one message that waits")
    .description("Deletes the message ID of the queue NAME if it waits, came back or is delayed.")
    .argument("<name>", "the queue")
    .argument("<id>", "as push and peek print it")
    .addHelpText("after", QUEUE_HELP.cancel)
    .action(async (name: string, id: string, _: unknown, self: Command) => {
      const { cancel } = await import("./commands/queue.js");
      finish(await cancel(name, id, settingsOf(self.optsWithGlobals())));
    });
}

function addState(queue: Command, finish: Finish): void {
  queue
    .command("state")
    .summary("show one queue")
    .description("Shows how many messages of the queue NAME wait, are delayed, in flight and dead.")
    .argument("<name>", "the queue")
    .addHelpText("after", QUEUE_HELP.state)
    .action(async (name: string, _: unknown, self: Command) => {
      const { show } = await import("./commands/look.js");
      finish(await show("queue", name, settingsOf(self.optsWithGlobals())));
    });
}

function addPause(queue: Command, finish: Finish): void {
  queue
    .command("pause")
    .summary("deliver nothing more until resume")
    .description("Delivers nothing more of the queue NAME, in any process, until resume.")
    .argument("<name>", "the queue")
    .addHelpText("after", QUEUE_HELP.pause)
    .action(async (name: string, _: unknown, self: Command) => {
      const { pause } = await import("./commands/queue.js");
      finish(await pause(name, settingsOf(self.optsWithGlobals())));
    });
  queue
    .command("resume")
    .summary("end a pause")
    .description("Ends the pause of the queue NAME.")
    .argument("<name>", "the queue")
    .addHelpText("after", QUEUE_HELP.pause)
    .action(async (name: string, _: unknown, self: Command) => {
      const { resume } = await import("./commands/queue.js");
      finish(await resume(name, settingsOf(self.optsWithGlobals())));
    });
}

function addDrain(queue: Command, finish: Finish): void {
  queue
    .command("drain")
    .summary("delete the messages that wait")
    .description("Deletes the messages of the queue NAME that wait or are delayed, and prints their number.")
    .argument("<name>", "the queue")
    .option("-y, --yes", "do not ask")
    .addHelpText("after", QUEUE_HELP.drain)
    .action(async (name: string, _: unknown, self: Command) => {
      const { yes, ...rest } = self.optsWithGlobals();
      assertCanAsk(self, yes);
      const { drain } = await import("./commands/queue.js");
      finish(await drain({ name, yes: yes === true }, settingsOf(rest)));
    });
}

function addDead(queue: Command, finish: Finish): void {
  queue
    .command("dead")
    .summary("print the messages that used up their attempts")
    .description("Prints the dead letters of the queue NAME, the newest first.")
    .argument("<name>", "the queue")
    .addOption(countOption(100))
    .addHelpText("after", QUEUE_HELP.dead)
    .action(async (name: string, _: unknown, self: Command) => {
      const { count, ...rest } = self.optsWithGlobals();
      const { dead } = await import("./commands/queue.js");
      finish(await dead({ name, count }, settingsOf(rest)));
    });
  queue
    .command("redrive")
    .summary("put dead letters back into the queue")
    .description("Puts dead letters of the queue NAME back into it: those with an ID, or all.")
    .argument("<name>", "the queue")
    .argument("[ids...]", "as dead prints them")
    .option("--all", "all dead letters")
    .addHelpText("after", QUEUE_HELP.redrive)
    .action(async (name: string, ids: string[], _: unknown, self: Command) => {
      const { all, ...rest } = self.optsWithGlobals();
      assertOneOrAll(self, ids, all);
      const { redrive } = await import("./commands/queue.js");
      finish(await redrive(name, ids, settingsOf(rest)));
    });
}

function addReset(queue: Command, finish: Finish): void {
  queue
    .command("reset")
    .summary("delete everything of a queue")
    .description("Deletes everything of the queue NAME, so that it begins again.")
    .argument("<name>", "the queue")
    .option("-y, --yes", "do not ask")
    .addHelpText("after", QUEUE_HELP.reset)
    .action(async (name: string, _: unknown, self: Command) => {
      const { yes, ...rest } = self.optsWithGlobals();
      assertCanAsk(self, yes);
      const { reset } = await import("./commands/queue.js");
      finish(await reset({ name, yes: yes === true }, settingsOf(rest)));
    });
}

export function countOption(byDefault: number): Option {
  return new Option("--count <count>", "how many at most").argParser(aboveZero).default(byDefault);
}

export function assertCanAsk(self: Command, yes: unknown): void {
  if (!yes && !host().stdin.isTTY)
    self.error("error: holdfast cannot ask, because stdin is no terminal: add --yes");
}

/** A name that a script lost, as by an empty variable, must not mean all. @param given what the command is about */
export function assertOneOrAll(
  self: Command,
  given: string | readonly string[] | undefined,
  all: unknown,
): void {
  const isNamed = given !== undefined && given.length > 0;
  if (isNamed === (all === true))
    self.error(`error: ${isNamed ? "name some, or give --all" : "nothing is named: give --all for all"}`);
}

function aboveZero(text: string): number {
  return numberAboveZero(text, "Give a whole number from 1.");
}

/** @param remedy what to give instead, as a sentence */
export function numberAboveZero(text: string, remedy: string): number {
  if (/^[1-9]\d*$/.test(text) && text.length <= LONGEST_COUNT) return Number(text);
  throw new InvalidArgumentError(remedy);
}
