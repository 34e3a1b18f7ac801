/**
 * Lua source as text: where its comments and strings are, what it includes, and what of it is worth sending.
 *
 * Only the lexical level of Lua 5.1 is known here: short strings, long brackets, line and block comments.
 */
import { readFileSync } from "node:fs";
import { basename, dirname, relative, resolve } from "node:path";

export interface Piece {
  readonly kind: "code" | "string" | "comment";
  readonly text: string;
  /** Line of the first character, from 1. */
  readonly line: number;
}

/** The last alternative of each is a text that never ends: the lexer of Lua rejects it, so it must not pass as code. */
const longBracket = /^\[(=*)\[[\s\S]*?(?:\]\1\]|$)/;
const shortString = /^(["'])(?:\\[\s\S]|(?!\1)[^\\\n])*(?:\1|$)?/;
const include = /^--- @include "([^"]+)"[ \t]*$/;
const rights = /^([ \t]*)--- @rights (\S+)[ \t]*$/m;

/** Cuts a source into code, strings and comments. Joined again, the pieces are the source, byte for byte. */
export function pieces(source: string): Piece[] {
  const found: Piece[] = [];
  let code = "";
  let line = 1;
  let at = 0;
  const push = (kind: Piece["kind"], text: string) => {
    if (text === "") return;
    found.push({ kind, text, line });
    line += text.split("\n").length - 1;
  };
  while (at < source.length) {
    const special = specialAt(source, at);
    if (special === undefined) {
      code += source[at];
      at += 1;
      continue;
    }
    push("code", code);
    code = "";
    push(special.kind, special.text);
    at += special.text.length;
  }
  push("code", code);
  return found;
}

function specialAt(source: string, at: number): Pick<Piece, "kind" | "text"> | undefined {
  const char = source[at];
  if (char === "-" && source[at + 1] === "-") {
    const rest = source.slice(at + 2);
    const block = longBracket.exec(rest);
    const body = block?.[0] ?? /^[^\n]*/.exec(rest)?.[0] ?? "";
    return { kind: "comment", text: `--${body}` };
  }
  if (char === '"' || char === "'")
    return { kind: "string", text: shortString.exec(source.slice(at))?.[0] ?? char };
  if (char === "[") {
    const text = longBracket.exec(source.slice(at))?.[0];
    if (text !== undefined) return { kind: "string", text };
  }
  return undefined;
}

/** What needs no blank beside it. */
const apart = / *([=,(){}<>+*]) */g;
const needsNone = /^[=,(){}<>+*]/;
const needsNoneAfter = /[ =,(){}<>+*]$/;

/** A comment at the end of a line that is a guard and nothing else, so that a test can leave the line out. */
const mark = /^-- guard: [^\n]*$/;

/** The same program without comments, blank lines and blanks that say nothing, but with its marks. Strings come through untouched. */
export function strip(source: string): string {
  const lines: string[] = [];
  let line = "";
  const end = () => {
    const text = line.trim();
    if (text !== "") lines.push(text);
    line = "";
  };
  const add = (code: string) => {
    line = (needsNone.test(code) ? line.trimEnd() : line) + code;
  };
  for (const piece of pieces(source)) {
    if (piece.kind === "string" || (piece.kind === "comment" && mark.test(piece.text))) {
      line += piece.text;
    } else if (piece.kind === "comment") {
      // A comment separates tokens ("a--[[b]]c" is two names), so a blank takes its place.
      add(needsNoneAfter.test(line) ? "" : " ");
    } else {
      const [first = "", ...rest] = piece.text.replace(apart, "$1").split("\n");
      add(first);
      for (const next of rest) {
        end();
        line = next;
      }
    }
  }
  end();
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/** The file that a comment includes, as it names it. */
export function included({ kind, text }: Piece): string | undefined {
  return kind === "comment" ? include.exec(text)?.[1] : undefined;
}

/** The files that a source includes, as it names them. */
export function includes(source: string): { readonly specifier: string; readonly line: number }[] {
  return pieces(source).flatMap((piece) => {
    const specifier = included(piece);
    return specifier === undefined ? [] : [{ specifier, line: piece.line }];
  });
}

/** A function at the margin of a file, or what is between two of them or two includes, whatever those bring along. */
export interface Part {
  /** Absolute. */
  readonly file: string;
  /** Its place among the parts of its file, from 0. */
  readonly index: number;
  /** Number of the includes of its file that come before it. */
  readonly includes: number;
  readonly text: string;
  /** Of the function. */
  readonly name?: string | undefined;
}

/**
 * A script as the parts that are joined: each `--- @include "path"` stands for the parts of that file, each file once, without the
 * functions that the script does not call. An include that is indented stands in a block, which ends with the next `end` of its
 * file at the margin: what it brings is known there only.
 * @throws {Error} a file that one block brings is included outside of it
 */
export function partsOf(file: string, read: (file: string) => string = readText): Part[] {
  /** The block that each file was included in; undefined: none. */
  const seen = new Map<string, string | undefined>();
  const expand = (path: string, from: string, block: string | undefined): Part[] => {
    if (seen.has(path)) {
      const first = seen.get(path);
      if (first !== undefined && first !== block)
        throw new Error(`${from}: ${path} is included in a block before. Include it above all blocks`);
      return [];
    }
    seen.set(path, block);
    let text: string;
    try {
      text = read(path);
    } catch (cause) {
      throw new Error(`${relative(process.cwd(), from)}: cannot include ${relative(process.cwd(), path)}`, {
        cause,
      });
    }
    const found: Part[] = [];
    let [part, blocks, index, includes] = ["", 0, 0, 0];
    const cut = (): Part[] => {
      const parts = cutAtFunctions(part).map((one) => ({ file: path, index: index++, includes, ...one }));
      [part, includes] = ["", includes + 1];
      return parts;
    };
    for (const piece of pieces(text)) {
      const target = included(piece);
      if (target === undefined) {
        part += piece.text;
        if (piece.kind === "code") blocks += piece.text.match(/^end\b/gm)?.length ?? 0;
        continue;
      }
      const inner = /[ \t]$/.test(part) ? `${path} ${blocks}` : undefined;
      const brought = expand(resolve(dirname(path), target), path, block ?? inner);
      found.push(...cut(), ...brought);
    }
    return [...found, ...cut()];
  };
  const parts = withRights(expand(resolve(file), file, undefined));
  return basename(file).startsWith("_") ? parts : withoutUncalled(parts);
}

function cutAtFunctions(text: string): Pick<Part, "text" | "name">[] {
  const found: Pick<Part, "text" | "name">[] = [];
  let at = 0;
  // A comment may speak of an end.
  const masked = pieces(text).map((piece) =>
    piece.kind === "comment" ? piece.text.replace(/./g, " ") : piece.text,
  );
  for (const { 0: body, 1: name, index } of masked.join("").matchAll(functionAtMargin)) {
    const end = index + body.length + 1;
    found.push({ text: text.slice(at, index) }, { text: text.slice(index, end), name });
    at = end;
  }
  return [...found, { text: text.slice(at) }];
}

function withoutUncalled(parts: readonly Part[]): Part[] {
  const called = new Set<string>();
  const follow = (text: string): void => {
    for (const [word] of withoutComments(text).matchAll(/\b[a-z_]\w*\b/gi)) {
      if (called.has(word)) continue;
      called.add(word);
      for (const { name, text: body } of parts) if (name === word) follow(body);
    }
  };
  for (const { name, text } of parts) if (name === undefined) follow(text);
  return parts.filter(({ name }) => name === undefined || called.has(name));
}

/**
 * `--- @rights key` in a script stands for `need(key, 'DEL', …)` of redis/lua/_rights.lua: whether the user may use each command that can
 * come after it. It is a place before which nothing was written. One that is indented speaks of the rest of its block.
 */
function withRights(parts: readonly Part[]): Part[] {
  const whole = withoutComments(parts.map(({ text }) => text).join("\n"));
  const functions = new Map([...whole.matchAll(functionAtMargin)].map(([text, name = ""]) => [name, text]));
  const expand = (part: Part, place: number): Part => {
    let text = part.text;
    for (let found = rights.exec(text); found; found = rights.exec(text)) {
      const [line, indent = "", key] = found;
      const rest = text.slice(found.index + line.length);
      const later = parts.slice(place + 1).map((one) => one.text);
      const code = indent === "" ? [rest, ...later].join("\n") : rest.slice(0, rest.search(/^end/m));
      const list = commandsOf(withoutComments(code).replace(functionAtMargin, ""), functions).map(
        (one) => `'${one}'`,
      );
      if (list.length === 0) throw new Error(`${part.file}: nothing comes after "${line.trim()}"`);
      text = `${text.slice(0, found.index)}${indent}need(${key}, ${list.join(", ")})${rest}`;
    }
    return { ...part, text };
  };
  return parts.map(expand);
}

/** A function at the margin, with its text; none has another `end` there. */
const functionAtMargin =
  /^local function (\w+)\((?:.* end[ \t;]*$|(?!.* end[ \t;]*$).*\n(?:.*\n)*?end[ \t;]*$)/gm;
const firstArgument = /\bredis\.p?call\(([^,()]*)/g;
/** send() of _message.lua takes a refused one for one that nobody heard. */
const outOfQuestion = "PUBLISH";

/** The commands that a code sends, itself and by the functions that it calls, however deep. */
function commandsOf(code: string, functions: ReadonlyMap<string, string>): string[] {
  const found = new Set<string>();
  const seen = new Set<string>();
  const follow = (text: string): void => {
    for (const [, argument = ""] of text.matchAll(firstArgument))
      for (const [, command = ""] of argument.matchAll(/'([A-Z]+)'/g)) found.add(command);
    for (const [name] of text.matchAll(/\b[a-z_]\w*\b/gi)) {
      const called = functions.get(name);
      if (called === undefined || seen.has(name)) continue;
      seen.add(name);
      follow(called);
    }
  };
  follow(code);
  found.delete(outOfQuestion);
  return [...found].sort();
}

function withoutComments(source: string): string {
  return pieces(source)
    .map(({ kind, text }) => (kind === "comment" ? "" : text))
    .join("");
}

/** A script as one text, with its comments. */
export function readScript(file: string, read?: (file: string) => string): string {
  return partsOf(file, read)
    .map(({ text }) => text)
    .join("");
}

/** Text of a file with Unix line ends, so that a checkout on Windows sends the same bytes and has the same SHA-1. */
export function readText(file: string): string {
  return readFileSync(file, "utf8").replaceAll("\r\n", "\n");
}
