/** The address of a client behind proxies. Only a trusted proxy may say which address its request came from. */
import { InvalidArgumentError } from "../errors.js";
import { AddressList, isAddress } from "./address.js";

/**
 * The proxies before this server: how many there are, or their addresses and networks. Each of them must add to
 * `X-Forwarded-For`. `false` means that there is no proxy, so the header causes no warning.
 */
export type Trust = number | readonly string[] | false;

/** Whether the peer at this address, `steps` proxies away, may say which address its request came from. */
export type Trusted = (address: string | null, steps: number) => boolean;

const MOST_PROXIES = 100;

/** @throws {InvalidArgumentError} */
export function trustedOf(trust: Trust | undefined): Trusted {
  if (trust === undefined || trust === false) return () => false;
  if (Array.isArray(trust)) {
    const list = new AddressList(trust);
    return (address) => address !== null && list.has(address);
  }
  if (Number.isInteger(trust) && (trust as number) >= 0 && (trust as number) <= MOST_PROXIES)
    return (_, steps) => steps < (trust as number);
  throw new InvalidArgumentError(
    "trust",
    "must be how many proxies there are, or a list of their networks, or false",
  );
}

/**
 * Goes back through the proxies, from the connected peer, for as long as each is trusted.
 * @param forwardedFor the value of `X-Forwarded-For`
 */
export function clientAddress(
  connected: string | null,
  forwardedFor: string | null,
  isTrusted: Trusted,
): string | null {
  const said = (forwardedFor ?? "").split(",").map(withoutPort);
  let [address, steps] = [connected, 0];
  while (isTrusted(address, steps)) {
    const before = said.pop();
    if (before === undefined || !isAddress(before)) break;
    [address, steps] = [before, steps + 1];
  }
  return address;
}

/**
 * The address that a shell or the caller's function returned; null where it is not known.
 * @throws {InvalidArgumentError}
 */
export function checkAddress(address: unknown): string | null {
  if (address === null || address === undefined) return null;
  if (typeof address === "string") return address;
  throw new InvalidArgumentError("address", `must return text, null or undefined, not ${typeof address}`);
}

/** Some proxies write `203.0.113.7:52100` and `[2001:db8::1]:52100`. */
function withoutPort(text: string): string {
  const plain = text.trim();
  return /^\[([^\]]*)\](?::\d+)?$/.exec(plain)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(plain)?.[1] ?? plain;
}
