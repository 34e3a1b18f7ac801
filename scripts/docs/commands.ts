/** Shell blocks are not run (they install, they start servers), but the commands of this house in them must exist. */
import type { Block } from "./blocks.ts";

const shells = new Set(["sh", "bash", "shell", "console"]);

export interface House {
  readonly scripts: Readonly<Record<string, string>>;
  readonly exists: (path: string) => boolean;
}

/** One line for each command that is named and not there. */
export function missingCommands(block: Block, { scripts, exists }: House): string[] {
  if (!shells.has(block.language)) return [];
  return block.code.split("\n").flatMap((text, at) => {
    const missing = missingIn(text.replace(/^\$ /, ""), scripts, exists);
    return missing === undefined ? [] : [`${block.file}:${block.line + at} ${missing}`];
  });
}

function missingIn(text: string, scripts: House["scripts"], exists: House["exists"]): string | undefined {
  const script = /^npm (?:run ([\w:-]+)|(start|test)\b)/.exec(text);
  const name = script?.[1] ?? script?.[2];
  if (name !== undefined) return name in scripts ? undefined : `no script "${name}" in package.json`;
  const path = /^(?:node|bash|npx tsx) (?:--import tsx )?([\w./-]+\/[\w./-]+)/.exec(text)?.[1];
  if (path !== undefined && !path.startsWith("/") && !exists(path)) return `no file ${path}`;
  return undefined;
}
