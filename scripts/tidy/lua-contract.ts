/**
 * The header of a Lua script is a contract: it names every KEYS and ARGV that the script reads, and no other.
 *
 *   KEYS[1]     lock       one key, read once, at the top:       local lock = KEYS[1]
 *   ARGV[1..n]  ids        several, read in a loop:              KEYS[i], #KEYS, unpack(ARGV)
 *   KEYS[1..5]  a, b, …    a fixed run, also for a shared function that reads KEYS[first + 1]
 *
 * Shared files (`_name.lua`) are read as part of each script that includes them.
 */
import { pieces, readScript } from "../lua.ts";
import type { Finding } from "./source.ts";

const sections = ["Returns", "Retry", "Clock", "Cost"];
const declaration = /^(KEYS|ARGV)\[(\d+)(\.\.\w*)?\]/gm;
const literalUse = /\b(KEYS|ARGV)\s*\[\s*(\d+)\s*\]/g;
/** What is believed of a message is written there. */
const messages = "redis/lua/_message.lua";
const anyUse = /\b(KEYS|ARGV)\b/g;

interface Use {
  readonly array: string;
  /** undefined: a loop, a length, the whole array. */
  readonly index: number | undefined;
  readonly line: number;
}

interface Contract {
  readonly array: string;
  readonly first: number;
  readonly last: number;
  readonly line: number;
}

/** `path` is where `file` lies; `text` is its content. */
export function checkLua(file: string, path: string, text: string): Finding[] {
  const findings: Finding[] = [];
  const found = (line: number, rule: string, message: string) => findings.push({ file, line, rule, message });
  for (const { line } of formatsInteger(text)) {
    found(line, "lua-format", "%d stops at 2^31 on a 32-bit server: use %.0f");
  }
  for (const [at, code] of text.split("\n").entries())
    if (/['"]S?PUBLISH['"]/i.test(code) && !file.endsWith(messages))
      found(at + 1, "lua-message", `a message is sent by send() of ${messages}`);
  const own = uses(text);
  if (/(^|\/)_[^/]*$/.test(file)) {
    for (const { array, index, line } of own) {
      if (index !== undefined)
        found(line, "lua-shared", `${array}[${index}] in a shared file: pass it as an argument`);
    }
    return findings;
  }
  const header = /^--\[\[\n([\s\S]*?)\]\]/.exec(text)?.[1];
  if (header === undefined) {
    found(1, "lua-header", "no --[[ … ]] contract at the top");
    return findings;
  }
  for (const section of sections) {
    if (!new RegExp(`^${section}\\b`, "m").test(header))
      found(1, "lua-header", `no "${section}" in the contract`);
  }
  const whole = readScript(path);
  findings.push(...compare(file, contractOf(header), own, uses(whole)));
  const clocks = clockReads(whole);
  if (clocks > 1) found(1, "lua-clock", `the clock is read in ${clocks} places; read it once and pass it on`);
  return findings;
}

function compare(
  file: string,
  contract: readonly Contract[],
  own: readonly Use[],
  all: readonly Use[],
): Finding[] {
  const findings: Finding[] = [];
  const found = (line: number, message: string) =>
    findings.push({ file, line, rule: "lua-contract", message });
  for (const array of ["KEYS", "ARGV"]) {
    const entries = contract.filter((entry) => entry.array === array);
    const literal = own.filter((use) => use.array === array && use.index !== undefined);
    const looped = all.find((use) => use.array === array && use.index === undefined);
    let next = 1;
    for (const { first, last, line } of entries) {
      if (first !== next)
        found(line, `${array}[${first}] follows ${array}[${next - 1}]: number them without gaps`);
      next = last + 1;
      const isRange = last > first;
      const isRead = literal.some(({ index = 0 }) => index >= first && index <= last);
      if (!isRead && !(isRange && looped))
        found(line, `${array}[${first}${isRange ? ".." : ""}] is named but never read`);
    }
    for (const { index = 0, line } of literal) {
      const known = entries.some(({ first, last }) => index >= first && index <= last);
      if (!known) found(line, `${array}[${index}] is read but not named in the contract`);
      const first = literal.find((use) => use.index === index);
      if (
        first?.line !== line ||
        literal.filter((use) => use.index === index && use.line === line).length > 1
      ) {
        found(line, `${array}[${index}] is read again: name it once at the top`);
      }
    }
    if (looped && !entries.some(({ first, last }) => last > first)) {
      const inOwn = own.find((use) => use.array === array && use.index === undefined);
      found(inOwn?.line ?? 1, `${array} is read in a loop: name it as ${array}[1..n] in the contract`);
    }
  }
  return findings;
}

function contractOf(header: string): Contract[] {
  return [...header.matchAll(declaration)].map((match) => {
    const [, array = "", start = "", range] = match;
    const first = Number(start);
    const end = range?.slice(2);
    // "1..n", "1..2n": no fixed end.
    const last = end === undefined ? first : /^\d+$/.test(end) ? Number(end) : Number.POSITIVE_INFINITY;
    return { array, first, last, line: header.slice(0, match.index).split("\n").length + 1 };
  });
}

function uses(text: string): Use[] {
  return pieces(text)
    .filter(({ kind }) => kind === "code")
    .flatMap((piece) => {
      const lineOf = (offset: number) => piece.line + piece.text.slice(0, offset).split("\n").length - 1;
      const literal = [...piece.text.matchAll(literalUse)];
      const starts = new Set(literal.map(({ index }) => index));
      const loose = [...piece.text.matchAll(anyUse)].filter(({ index }) => !starts.has(index));
      return [
        ...literal.map(({ 1: array = "", 2: index, index: at }) => ({
          array,
          index: Number(index),
          line: lineOf(at),
        })),
        ...loose.map(({ 1: array = "", index: at }) => ({ array, index: undefined, line: lineOf(at) })),
      ];
    });
}

/** Strings with %d that are a format: "%d+" in string.match is a digit, and fine. */
function formatsInteger(text: string) {
  const all = pieces(text);
  return all.filter((piece, at) => {
    if (piece.kind !== "string" || !/%[-+ #0-9.]*[di]/.test(piece.text.replaceAll("%%", ""))) return false;
    const [before, after] = [all[at - 1]?.text ?? "", all[at + 1]?.text ?? ""];
    return /\bformat\s*\(?\s*$/.test(before) || /^\s*\)?\s*:\s*format\b/.test(after);
  });
}

function clockReads(text: string): number {
  const all = pieces(text);
  return all.filter(
    (piece, at) => /^["']time["']$/i.test(piece.text) && /\bp?call\s*\(?\s*$/.test(all[at - 1]?.text ?? ""),
  ).length;
}
