/** IP addresses as bits, so that every notation of an address is the same address. */
import { InvalidArgumentError } from "../errors.js";

interface Address {
  readonly bits: bigint;
  readonly width: 32 | 128;
}

interface Network extends Address {
  readonly prefix: number;
}

const DEFAULT_IPV6_PREFIX = 56;
/** All clients whose address cannot be read share this one key. */
const UNKNOWN = "unknown";
/** The prefixes of IPv4 addresses in IPv6: mapped (RFC 4291), and translated by the well-known prefix (RFC 6052). */
const MAPPED = 0xffffn;
const TRANSLATED = 0x64ff9bn << 64n;
const IPV4_FROM = 96;

/** The client has hung up, so its address is not known any more. */
export class NoAddressError extends InvalidArgumentError {
  constructor() {
    super("address", "is not known: the client has hung up, or this connection has no address");
  }
}

/**
 * The text under which a client is counted: its IPv4 address, or the network of its IPv6 address. A household or a rented
 * server has a whole network, mostly a /56, so a count of single addresses would never reach its limit. IPv4 in IPv6
 * (`::ffff:…`, `64:ff9b::…`) is counted as IPv4.
 *
 * A text that is no address has the key "unknown". Where there is no address at all, the client has hung up, and an
 * error is thrown: such a client must not be counted under another key than its own. The middleware then refuses the request.
 * @param ipv6Prefix number of bits of an IPv6 address that count; 128 is the whole address
 * @throws {InvalidArgumentError} there is no address, or the prefix is none
 */
export function ipKey(address: string | null | undefined, ipv6Prefix?: number): string {
  const prefix = checkIpv6Prefix(ipv6Prefix);
  if (address === null || address === undefined) throw new NoAddressError();
  if (typeof address !== "string")
    throw new InvalidArgumentError("address", `must be text, not ${typeof address}`);
  const parsed = parse(address);
  if (!parsed) return UNKNOWN;
  if (parsed.width === 32) return formatIpv4(parsed.bits);
  const text = formatIpv6(head({ ...parsed, prefix }) << BigInt(128 - prefix));
  return prefix === 128 ? text : `${text}/${prefix}`;
}

/**
 * Another name of an address, beside its key, that a list may have: all of an IPv6 address, or the notation of an IPv4
 * address in which Node shows it to a server that listens on IPv6, `::ffff:192.0.2.7`. Null where it cannot be parsed.
 */
export function otherName(address: string): string | null {
  const written = parseWritten(address);
  if (!written) return null;
  const isIpv4 = written.width === 32 || isMapped(written);
  return isIpv4 ? `::ffff:${formatIpv4(written.bits & 0xffffffffn)}` : formatIpv6(written.bits);
}

/** @throws {InvalidArgumentError} */
export function checkIpv6Prefix(prefix: unknown = DEFAULT_IPV6_PREFIX): number {
  if (Number.isInteger(prefix) && (prefix as number) >= 1 && (prefix as number) <= 128)
    return prefix as number;
  throw new InvalidArgumentError("ipv6Prefix", "must be a whole number from 1 to 128");
}

/** Addresses and networks (`10.0.0.0/8`, `2001:db8::/32`), for `trust`, and for the lists of a guard by IP. */
export class AddressList {
  readonly #networks: readonly Network[];

  /** @throws {InvalidArgumentError} */
  constructor(networks: Iterable<string>) {
    this.#networks = [...networks].map((text) => {
      const network = parseNetwork(text);
      if (network) return network;
      throw new InvalidArgumentError(
        "networks",
        `has ${JSON.stringify(text)}, which is no address or network`,
      );
    });
  }

  /** Whether an address, or all of a network, is in one of its networks. */
  has(address: string): boolean {
    const asked = parseNetwork(address);
    if (!asked) return false;
    // A translated address is an IPv6 address as well, so a wider IPv6 network may contain it.
    const written = parseWritten(address);
    const wide = written && isTranslated(written) ? [{ ...written, prefix: written.width }] : [];
    return [asked, ...wide].some((each) => this.#networks.some((network) => isWithin(network, each)));
  }
}

function isWithin(network: Network, asked: Network): boolean {
  return (
    network.width === asked.width &&
    network.prefix <= asked.prefix &&
    head(network) === head({ ...asked, prefix: network.prefix })
  );
}

export function isAddress(text: string): boolean {
  return parse(text) !== null;
}

/** The first `prefix` bits of the address. */
function head({ bits, width, prefix }: Network): bigint {
  return bits >> BigInt(width - prefix);
}

function parseNetwork(text: string): Network | null {
  const [before = "", length, ...more] = String(text).split("/");
  const written = parseWritten(before);
  if (!written || more.length > 0) return null;
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return null;
  const prefix = length === undefined ? written.width : Number(length);
  if (prefix > written.width) return null;
  // A prefix counts bits of the notation: in IPv6, those of an IPv4 address begin after 96.
  if (isIpv4Within(written) && prefix >= IPV4_FROM)
    return { ...withoutPrefix(written), prefix: prefix - IPV4_FROM };
  // A wider IPv6 network does not contain mapped addresses, because those are IPv4.
  return isMapped(written) ? null : { ...written, prefix };
}

function parse(text: string): Address | null {
  const written = parseWritten(text);
  return written && isIpv4Within(written) ? withoutPrefix(written) : written;
}

function isMapped({ bits, width }: Address): boolean {
  return width === 128 && bits >> 32n === MAPPED;
}

function isTranslated({ bits, width }: Address): boolean {
  return width === 128 && bits >> 32n === TRANSLATED;
}

function isIpv4Within(address: Address): boolean {
  return isMapped(address) || isTranslated(address);
}

function withoutPrefix({ bits }: Address): Address {
  return { bits: bits & 0xffffffffn, width: 32 };
}

function parseWritten(text: string): Address | null {
  const [plain = ""] = text.trim().split("%", 1); // a zone names an interface of this machine, not a client
  const isIpv6 = plain.includes(":");
  const bits = isIpv6 ? parseIpv6(plain) : parseIpv4(plain);
  return bits === null ? null : { bits, width: isIpv6 ? 128 : 32 };
}

function parseIpv4(text: string): bigint | null {
  const parts = text.split(".");
  // Some parsers read a leading zero as octal, others as decimal.
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return null;
  return parts.reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function parseIpv6(text: string): bigint | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  // An IPv4 address can only be the end of an IPv6 one.
  if (halves.length === 2 && halves[0]?.includes(".")) return null;
  const [before, after] = halves.map(groupsOf);
  if (!before || (halves.length === 2 && !after)) return null;
  const zeros = 8 - before.length - (after?.length ?? 0);
  if (after ? zeros < 1 : zeros !== 0) return null;
  const groups = [...before, ...Array<bigint>(zeros).fill(0n), ...(after ?? [])];
  return groups.reduce((bits, group) => (bits << 16n) | group, 0n);
}

function groupsOf(text: string): bigint[] | null {
  if (text === "") return [];
  const parts = text.split(":");
  const last = parts.at(-1) ?? "";
  const ipv4 = last.includes(".") ? parseIpv4(last) : undefined;
  if (ipv4 === null) return null;
  const words = ipv4 === undefined ? parts : parts.slice(0, -1);
  if (!words.every((word) => /^[0-9a-f]{1,4}$/i.test(word))) return null;
  const groups = words.map((word) => BigInt(`0x${word}`));
  return ipv4 === undefined ? groups : [...groups, ipv4 >> 16n, ipv4 & 0xffffn];
}

function formatIpv4(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join(".");
}

/** The notation of RFC 5952. */
function formatIpv6(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, place) =>
    ((bits >> BigInt(16 * (7 - place))) & 0xffffn).toString(16),
  );
  let [start, length] = [0, 1];
  for (let from = 0; from < 8; from += 1) {
    let to = from;
    while (groups[to] === "0") to += 1;
    if (to - from > length) [start, length] = [from, to - from];
  }
  if (length === 1) return groups.join(":");
  return `${groups.slice(0, start).join(":")}::${groups.slice(start + length).join(":")}`;
}
