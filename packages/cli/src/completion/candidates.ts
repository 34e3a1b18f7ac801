/** What may stand where the cursor is, read off the commands themselves. */
import type { Command, Option } from "commander";

export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** @param words after `holdfast`, the last one being typed, possibly empty. */
export async function candidatesFor(
  program: Command,
  words: readonly string[],
  names: () => Promise<readonly string[]> = async () => [],
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
  /** How many operands of the command have been typed. */
  readonly operands: number;
}

function placeOf(program: Command, typed: readonly string[]): Place {
  let command = program;
  let expecting: Option | null = null;
  let operands = 0;
  for (const word of typed) {
    if (expecting) expecting = null;
    else if (word.startsWith("-")) expecting = takesValue(command, word);
    else {
      const inner = command.commands.find((each) => each.name() === word);
      if (inner && operands === 0) command = inner;
      else operands += 1;
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
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...(command.parent ? command.parent.options : [])];
}

function choicesOf({ argChoices }: Option): readonly Candidate[] {
  return (argChoices ?? []).map((value) => ({ value, description: "" }));
}

async function inPlace(
  command: Command,
  current: string,
  operands: number,
  names: () => Promise<readonly string[]>,
): Promise<readonly Candidate[]> {
  if (current.startsWith("-")) {
    return optionsOf(command).flatMap(({ long, description }) =>
      long ? [{ value: long, description }] : [],
    );
  }
  const inner = command.createHelp().visibleCommands(command);
  if (inner.length > 0)
    return inner.map((each) => ({ value: each.name(), description: each.summary() || each.description() }));
  const argument = command.registeredArguments[operands];
  if (argument?.argChoices) return argument.argChoices.map((value) => ({ value, description: "" }));
  if (argument?.name() !== "name" && argument?.name() !== "pattern") return [];
  return (await names()).map((value) => ({ value, description: "" }));
}
