/** The plainest parts of a drawing, as SVG. Where a name is written it is escaped here. */

export function text(name: string, x: number, y: number, content: string): string {
  return `<text class="${name}" x="${round(x)}" y="${round(y)}">${escaped(content)}</text>`;
}

export function line(name: string, x: number, y: number, toX: number, toY: number): string {
  return `<path class="${name}" d="M${round(x)} ${round(y)}L${round(toX)} ${round(toY)}"/>`;
}

export function rect(name: string, x: number, y: number, width: number, height: number): string {
  return `<rect class="${name}" x="${x}" y="${round(y)}" width="${width}" height="${round(height)}"/>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Control characters have no place in XML, whatever a lock is called. */
export function escaped(content: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
  };
  return content.replace(/[&<>"]/g, (letter) => entities[letter]!).replace(/[^\P{C}\u00ad]/gu, "�");
}
