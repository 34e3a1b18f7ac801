/** The digest that stands for a resource whose name is too long to be kept: a client may choose the path. */
import { createHash } from "node:crypto";

export function digestOf(resource: string): string {
  return `sha256:${createHash("sha256").update(resource, "utf16le").digest("base64url")}`;
}
