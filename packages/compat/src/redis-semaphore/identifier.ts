/** Identifiers of npm redis-semaphore: a random UUID unless the caller has chosen one. */
import { InvalidArgumentError, type Random, systemRandom } from "holdfast";

export interface IdentifierOptions {
  /** @deprecated use `identifier` and `acquiredExternally` */
  externallyAcquiredIdentifier?: string;
  /** @deprecated use `identifier` */
  identifierSuffix?: string;
  /** The name of this lock inside this process. Redis does not see it. @default a random UUID */
  identifier?: string;
  /** `acquire` shares the lock that a Mutex of this process holds under the same key and identifier. */
  acquiredExternally?: true;
}

/** @throws {InvalidArgumentError} with the messages of the original */
export function identifierFrom(options: IdentifierOptions): { identifier: string; adopts: boolean } {
  const { identifier, acquiredExternally, externallyAcquiredIdentifier, identifierSuffix } = options;
  if (identifier !== undefined && (typeof identifier !== "string" || identifier === "")) {
    throw new InvalidArgumentError("identifier", "must be not empty random string");
  }
  if (acquiredExternally && !identifier) {
    throw new InvalidArgumentError("acquiredExternally=true", "meanless without custom identifier");
  }
  if (externallyAcquiredIdentifier && (identifier || acquiredExternally)) {
    throw new InvalidArgumentError(
      "externallyAcquiredIdentifier",
      "Invalid usage. Use custom identifier and acquiredExternally: true",
    );
  }
  return {
    identifier: identifier ?? externallyAcquiredIdentifier ?? randomUuid(systemRandom, identifierSuffix),
    adopts: Boolean(acquiredExternally) || Boolean(externallyAcquiredIdentifier),
  };
}

/** Version 4, variant 1 of RFC 9562, section 5.4. */
function randomUuid(random: Random, suffix?: string): string {
  const bytes = Buffer.from(random.id(), "base64url");
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const uuid = bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  return suffix ? `${uuid}-${suffix}` : uuid;
}
