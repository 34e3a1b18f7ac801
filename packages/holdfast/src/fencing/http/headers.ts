/** The headers of a fencing token: its decimal digits in one, the id of its holder in the other. */
import { InvalidArgumentError } from "../../errors.js";
import { checkFenced, type Fenced, isHolderId, isToken } from "../fenced.js";

export const TOKEN_HEADER = "Fencing-Token";
export const HOLDER_HEADER = "Fencing-Holder";

const DIGITS = /^(?:0|[1-9]\d{0,18})$/;

/** For any client: `{ headers: { ...fencingHeaders(lease) } }`. @throws {InvalidArgumentError} */
export function fencingHeaders(holder: Fenced): Record<string, string> {
  const { fence, id } = checkFenced(holder);
  return { [TOKEN_HEADER]: String(fence), [HOLDER_HEADER]: id };
}

/**
 * The holder that a request names, null without the headers. Hand it on to the data: to `enter` and `write` of a
 * fenced table, file or record.
 * @throws {InvalidArgumentError} a header is malformed, comes twice, or comes without the other
 */
export function holderOf(request: { readonly headers: Headers }): Fenced | null {
  const [token, id] = [request.headers.get(TOKEN_HEADER), request.headers.get(HOLDER_HEADER)];
  if (token === null && id === null) return null;
  if (token === null || id === null)
    throw new InvalidArgumentError(
      token === null ? TOKEN_HEADER : HOLDER_HEADER,
      "is missing beside the other",
    );
  if (!DIGITS.test(token) || !isToken(BigInt(token)))
    throw new InvalidArgumentError(
      TOKEN_HEADER,
      "must be a token of at most 2^63 - 1 in decimal digits, once",
    );
  if (!isHolderId(id))
    throw new InvalidArgumentError(HOLDER_HEADER, "must be an id of 1 to 200 visible ASCII characters, once");
  return { fence: BigInt(token), id };
}
