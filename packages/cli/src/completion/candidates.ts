/** The words that are valid at the cursor, derived from the commands themselves. */
import type { Command, Option } from "commander";

export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** Names that only Redis knows. */
export type Wanted =
  | { readonly of: "locks" }
  | { readonly of: "records" }
  | { readonly of: "events" }
  | { readonly of: "limits" }
  | { readonly of: "elections" }
  | { readonly of: "signals" }
  | { readonly of: "queues" }
  | { readonly of: "lanes" }
  | { readonly of: "lanes of"; readonly lanes: string }
  | { readonly of: "targets"; readonly limit: string };

/** @param words after `holdfast`, the last one being typed, possibly empty. */
export async function candidatesFor(
  program: Command,
  words: readonly string[],
  names: (wanted: Wanted) => Promise<readonly string[]> = async () => [],
): Promise<readonly Candidate[]> {
  const typed = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  const { command, expecting, operands } = placeOf(program, typed);
  const all = expecting ? choicesOf(expecting) : await inPlace(command, current, operands, names);
  return all.filter(({ value }) => value.startsWith(current));
}

interface Place {
  readonly command: Command;
  /** The option whose value comes next. */
  readonly expecting: Option | null;
  /** The operands of the command that have been typed. */
  readonly operands: readonly string[];
}

function placeOf(program: Command, typed: readonly string[]): Place {
  let command = program;
  let expecting: Option | null = null;
  const operands: string[] = [];
  for (const word of typed) {
    if (expecting) expecting = null;
    else if (word.startsWith("-")) expecting = takesValue(command, word);
    else {
      const inner = command.commands.find((each) => each.name() === word);
      if (inner && operands.length === 0) command = inner;
      else operands.push(word);
    }
  }
  return { command, expecting, operands };
}

function takesValue(command: Command, word: string): Option | null {
  const option = optionsOf(command).find(({ long, short }) => long === word || short === word);
  return option && (option.required || option.optional) ? option : null;
}

/** Its own and those of the program, which it takes as well. */
function optionsOf(command: Command): readonly Option[] {
  const above: Option[] = [];
  for (let parent = command.parent; parent; parent = parent.parent) above.push(...parent.options);
  return [...command.createHelp().visibleOptions(command), ...above];
}

function choicesOf({ argChoices }: Option): readonly Candidate[] {
  return (argChoices ?? []).map((value) => ({ value, description: "" }));
}

async function inPlace(
  command: Command,
  current: string,
  operands: readonly string[],
  names: (wanted: Wanted) => Promise<readonly string[]>,
): Promise<readonly Candidate[]> {
  if (current.startsWith("-")) {
    return optionsOf(command).flatMap(({ long, description }) =>
      long ? [{ value: long, description }] : [],
    );
  }
  const inner = command.createHelp().visibleCommands(command);
  if (inner.length > 0)
    return inner.map((each) => ({ value: each.name(), description: each.summary() || each.description() }));
  const argument = command.registeredArguments[operands.length];
  if (argument?.argChoices) return argument.argChoices.map((value) => ({ value, description: "" }));
  const wanted = wantedFor(command, argument?.name() ?? "", operands);
  return wanted ? (await names(wanted)).map((value) => ({ value, description: "" })) : [];
}

function wantedFor(command: Command, argument: string, [first = ""]: readonly string[]): Wanted | null {
  if (argument === "target") return { of: "targets", limit: first };
  if (argument === "lane") return { of: "lanes of", lanes: first };
  if (argument !== "name" && argument !== "pattern") return null;
  const [own, above] = [command.name(), command.parent?.name()];
  if (["elect", "leader"].includes(own)) return { of: "elections" };
  if (above === "record") return { of: "records" };
  if (above === "event") return { of: "events" };
  if (above === "signal") return { of: "signals" };
  if (above === "queue") return { of: "queues" };
  if (above === "lanes") return { of: "lanes" };
  return { of: own === "limit" || above === "limits" ? "limits" : "locks" };
}
