/** What the guide to Redis tells its readers to copy. */
import { readFileSync } from "node:fs";

/** The line of an ACL file, without its first word. */
export function guidedUser(): string {
  const guide = readFileSync(new URL("../../../docs/guides/redis.md", import.meta.url), "utf8");
  const line = /^user (\S+ on .*)$/m.exec(guide)?.[1];
  if (!line) throw new Error("docs/guides/redis.md has no ACL line");
  return line.trim();
}
