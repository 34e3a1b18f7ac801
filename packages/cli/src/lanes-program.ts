/** The commands about lanes, as `program.ts` has those about locks. */
import { type Command, Option } from "commander";
import { durationOption, parseDuration } from "./duration.js";
import { LANES_HELP } from "./lanes-help.js";
import { assertCanAsk, assertOneOrAll, countOption, numberAboveZero } from "./queue-program.js";
import { settingsOf } from "./settings.js";

type Finish = (exitCode: number) => void;

const LEAST_INTERVAL_MS = 100;
const NAME = "the name of the lanes";
const TICKET = "as push prints it";

export function addLanes(program: Command, finish: Finish): void {
  const lanes = program
    .command("lanes")
    .summary("push to lanes, follow a ticket, and mend what is stuck")
    .description("Does to lanes by hand what programs do, and what only people do.")
    .addHelpText("before", ({ error }) =>
      error ? "holdfast: a command is missing: ls, push, position, watch, cancel, peek, state …\n" : "",
    )
    .addHelpText("after", LANES_HELP.all);
  addList(lanes, finish);
  addPush(lanes, finish);
  addTickets(lanes, finish);
  addPeek(lanes, finish);
  addInFlight(lanes, finish);
  addState(lanes, finish);
  addPause(lanes, finish);
  addLimit(lanes, finish);
  addDrain(lanes, finish);
  addDead(lanes, finish);
  addReset(lanes, finish);
}

function addList(lanes: Command, finish: Finish): void {
  lanes
    .command("ls")
    .summary("list the names of lanes, or the lanes of one")
    .description("Lists the names of lanes, or the lanes of NAME.")
    .argument("[name]", NAME)
    .addHelpText("after", LANES_HELP.ls)
    .action(async (name: string | undefined, _: unknown, self: Command) => {
      const settings = settingsOf(self.optsWithGlobals());
      if (name === undefined) {
        const { list } = await import("./commands/look.js");
        finish(await list({ kind: "lanes", pattern: "*", all: false }, settings));
      } else {
        const { list } = await import("./commands/lanes.js");
        finish(await list(name, settings));
      }
    });
}

function addPush(lanes: Command, finish: Finish): void {
  lanes
    .command("push")
    .summary("push a message to a lane, or each line of stdin")
    .description("Pushes BODY, which is JSON, to a lane, and prints the ticket of the message.")
    .argument("<name>", NAME)
    .argument("<lane>", "any text, such as the id of a customer; - for stdin, without BODY")
    .argument("[body]", "the message; - for stdin, one message a line")
    .addOption(new Option("--text", "BODY is text, and not JSON"))
    .addOption(new Option("--bytes", "BODY is bytes; all of stdin is one message").conflicts("text"))
    .addHelpText("after", LANES_HELP.push)
    .action(async (name: string, lane: string, body: string | undefined, _: unknown, self: Command) => {
      const { text, bytes, ...rest } = self.optsWithGlobals();
      const form = text ? "text" : bytes ? "bytes" : "json";
      const ownLanes = body === undefined && lane === "-";
      if (body === undefined && !ownLanes) self.error("error: BODY is missing");
      if (ownLanes && form !== "json") self.error("error: lines that name their lanes are JSON");
      const { push } = await import("./commands/lanes.js");
      const terms = { name, lane: ownLanes ? undefined : lane, body: body ?? "-", form } as const;
      finish(await push(terms, settingsOf(rest)));
    });
}

function addTickets(lanes: Command, finish: Finish): void {
  lanes
    .command("position")
    .summary("print where a ticket stands")
    .description("Prints where the message of TICKET is in its lane, and how long it may take.")
    .argument("<name>", NAME)
    .argument("<ticket>", TICKET)
    .addHelpText("after", LANES_HELP.position)
    .action(async (name: string, ticket: string, _: unknown, self: Command) => {
      const { position } = await import("./commands/lanes.js");
      finish(await position({ name, ticket }, settingsOf(self.optsWithGlobals())));
    });
  lanes
    .command("watch")
    .summary("follow a ticket until it is over")
    .description("Shows where the message of TICKET is, until it is over, and how it ended.")
    .argument("<name>", NAME)
    .argument("<ticket>", TICKET)
    .addOption(durationOption("--interval <duration>", "time between two looks", parseDuration, "1s"))
    .addHelpText("after", LANES_HELP.watch)
    .action(async (name: string, ticket: string, _: unknown, self: Command) => {
      const { interval: everyMs, ...rest } = self.optsWithGlobals();
      if (everyMs < LEAST_INTERVAL_MS) self.error(`error: --interval must be ${LEAST_INTERVAL_MS}ms or more`);
      const { watch } = await import("./commands/lanes-watch.js");
      finish(await watch({ name, ticket, everyMs }, settingsOf(rest)));
    });
  lanes
    .command("cancel")
    .summary("take back a message that waits")
    .description("Cancels the message of TICKET if it still waits.")
    .argument("<name>", NAME)
    .argument("<ticket>", TICKET)
    .addHelpText("after", LANES_HELP.cancel)
    .action(async (name: string, ticket: string, _: unknown, self: Command) => {
      const { cancel } = await import("./commands/lanes.js");
      finish(await cancel({ name, ticket }, settingsOf(self.optsWithGlobals())));
    });
}

function addPeek(lanes: Command, finish: Finish): void {
  lanes
    .command("peek")
    .summary("print the next messages of a lane, and leave them")
    .description("Prints the next messages of a lane, and leaves them there.")
    .argument("<name>", NAME)
    .argument("<lane>", "the lane")
    .addOption(countOption(10))
    .addHelpText("after", LANES_HELP.peek)
    .action(async (name: string, lane: string, _: unknown, self: Command) => {
      const { count, ...rest } = self.optsWithGlobals();
      const { peek } = await import("./commands/lanes.js");
      finish(await peek(name, lane, count, settingsOf(rest)));
    });
}

function addInFlight(lanes: Command, finish: Finish): void {
  lanes
    .command("in-flight")
    .summary("print the messages that processes have")
    .description("Prints the messages of all lanes that processes have, and when each would come back.")
    .argument("<name>", NAME)
    .addOption(countOption(100))
    .addHelpText("after", LANES_HELP.inFlight)
    .action(async (name: string, _: unknown, self: Command) => {
      const { count, ...rest } = self.optsWithGlobals();
      const { inFlight } = await import("./commands/lanes.js");
      finish(await inFlight({ name, count }, settingsOf(rest)));
    });
}

function addState(lanes: Command, finish: Finish): void {
  lanes
    .command("state")
    .summary("show all lanes together, or one")
    .description("Shows how many messages the lanes NAME have together, or one of them.")
    .argument("<name>", NAME)
    .argument("[lane]", "one lane")
    .addHelpText("after", LANES_HELP.state)
    .action(async (name: string, lane: string | undefined, _: unknown, self: Command) => {
      const settings = settingsOf(self.optsWithGlobals());
      if (lane === undefined) {
        const { show } = await import("./commands/look.js");
        finish(await show("lanes", name, settings));
      } else {
        const { state } = await import("./commands/lanes.js");
        finish(await state(name, lane, settings));
      }
    });
}

function addPause(lanes: Command, finish: Finish): void {
  lanes
    .command("pause")
    .summary("deliver nothing more of a lane, or of all, until resume")
    .description("Delivers nothing more of a lane, or of all lanes, in any process, until resume.")
    .argument("<name>", NAME)
    .argument("[lane]", "one lane")
    .option("--all", "all lanes")
    .addHelpText("after", LANES_HELP.pause)
    .action(async (name: string, lane: string | undefined, _: unknown, self: Command) => {
      const { all, ...rest } = self.optsWithGlobals();
      assertOneOrAll(self, lane, all);
      const { pause } = await import("./commands/lanes.js");
      finish(await pause({ name, lane }, settingsOf(rest)));
    });
  lanes
    .command("resume")
    .summary("end a pause")
    .description("Ends the pause of a lane, or that of all lanes.")
    .argument("<name>", NAME)
    .argument("[lane]", "one lane")
    .option("--all", "all lanes")
    .addHelpText("after", LANES_HELP.pause)
    .action(async (name: string, lane: string | undefined, _: unknown, self: Command) => {
      const { all, ...rest } = self.optsWithGlobals();
      assertOneOrAll(self, lane, all);
      const { resume } = await import("./commands/lanes.js");
      finish(await resume({ name, lane }, settingsOf(rest)));
    });
}

function addLimit(lanes: Command, finish: Finish): void {
  lanes
    .command("limit")
    .summary("let more messages of one lane be in flight")
    .description("Lets so many messages of a lane be in flight together, whatever its programs say.")
    .argument("<name>", NAME)
    .argument("<lane>", "the lane")
    .argument("<most>", "a number from 1, or none: as the programs say", (text) =>
      text === "none" ? null : numberAboveZero(text, "Give a whole number from 1, or none."),
    )
    .addHelpText("after", LANES_HELP.limit)
    .action(async (name: string, lane: string, most: number | null, _: unknown, self: Command) => {
      const { limit } = await import("./commands/lanes.js");
      finish(await limit({ name, lane }, most, settingsOf(self.optsWithGlobals())));
    });
}

function addDrain(lanes: Command, finish: Finish): void {
  lanes
    .command("drain")
    .summary("delete the messages that wait")
    .description("Deletes the messages of a lane that wait, or of all lanes, and prints their number.")
    .argument("<name>", NAME)
    .argument("[lane]", "one lane")
    .option("--all", "all lanes")
    .option("-y, --yes", "do not ask")
    .addHelpText("after", LANES_HELP.drain)
    .action(async (name: string, lane: string | undefined, _: unknown, self: Command) => {
      const { all, yes, ...rest } = self.optsWithGlobals();
      assertOneOrAll(self, lane, all);
      assertCanAsk(self, yes);
      const { drain } = await import("./commands/lanes.js");
      finish(await drain({ name, lane, yes: yes === true }, settingsOf(rest)));
    });
}

function addDead(lanes: Command, finish: Finish): void {
  lanes
    .command("dead")
    .summary("print the messages that failed for good")
    .description("Prints the dead letters of all lanes of NAME, the newest first.")
    .argument("<name>", NAME)
    .addOption(countOption(100))
    .addHelpText("after", LANES_HELP.dead)
    .action(async (name: string, _: unknown, self: Command) => {
      const { count, ...rest } = self.optsWithGlobals();
      const { dead } = await import("./commands/lanes.js");
      finish(await dead({ name, count }, settingsOf(rest)));
    });
  lanes
    .command("redrive")
    .summary("put dead letters back into their lanes")
    .description("Puts dead letters of NAME back into their lanes: those of the tickets, or all.")
    .argument("<name>", NAME)
    .argument("[tickets...]", "as dead prints them")
    .option("--all", "all dead letters")
    .addHelpText("after", LANES_HELP.redrive)
    .action(async (name: string, tickets: string[], _: unknown, self: Command) => {
      const { all, ...rest } = self.optsWithGlobals();
      assertOneOrAll(self, tickets, all);
      const { redrive } = await import("./commands/lanes.js");
      finish(await redrive(name, tickets, settingsOf(rest)));
    });
}

function addReset(lanes: Command, finish: Finish): void {
  lanes
    .command("reset")
    .summary("delete everything of all lanes of a name")
    .description("Deletes everything of the lanes NAME, so that they begin again.")
    .argument("<name>", NAME)
    .option("-y, --yes", "do not ask")
    .addHelpText("after", LANES_HELP.reset)
    .action(async (name: string, _: unknown, self: Command) => {
      const { yes, ...rest } = self.optsWithGlobals();
      assertCanAsk(self, yes);
      const { reset } = await import("./commands/lanes.js");
      finish(await reset(name, yes === true, settingsOf(rest)));
    });
}
