/** Numbers as people read them. */

export function seconds(timeMs: number): string {
  return `${Number((timeMs / 1000).toFixed(timeMs < 100_000 ? 1 : 0))} s`;
}

/** Times in a checker's sentence, to the millisecond. */
export function rounded(text: string): string {
  return text.replaceAll(/\d+\.\d+(?= ms\b)/g, (time) => String(Math.round(Number(time))));
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/** Lines of at most `columns`, broken at spaces; a longer word goes over. */
export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
