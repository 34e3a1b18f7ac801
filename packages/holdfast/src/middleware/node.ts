/** The requests and responses of Node's own server, for the shells of Express and Fastify. */
import type { Incoming } from "./core.js";

/** An `IncomingMessage`, as far as it is needed. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** null where the stream of an HTTP/2 request is over; some adapters of serverless platforms have none. */
  readonly socket?: NodeSocket | null | undefined;
}

/** A `Socket`, as far as it is needed. */
export interface NodeSocket {
  readonly remoteAddress?: string | undefined;
  readonly localAddress?: string | undefined;
  readonly destroyed?: boolean | undefined;
  once?(event: "close", listener: () => void): unknown;
}

/** A `ServerResponse`, as far as it is needed. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly closed: boolean;
  once(event: "close", listener: () => void): unknown;
  getHeader(name: string): number | string | string[] | undefined;
  setHeader(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
  end(body: string): unknown;
}

/** A Unix socket has no address. Requests over it share one count, unless a trusted proxy names their clients. */
const UNIX_SOCKET = "unix";

/** The addresses of requests, because the sockets of HTTP/2 forget theirs when the client hangs up. */
const addresses = new WeakMap<NodeRequest, string>();

/** The address of the connected peer; null where the client has hung up and the address can no longer be read. */
export function peerAddress(request: NodeRequest): string | null {
  const known = addresses.get(request) ?? readAddress(request.socket);
  if (known !== null) addresses.set(request, known);
  return known;
}

function readAddress(socket: NodeRequest["socket"]): string | null {
  if (!socket) return null;
  const { remoteAddress, localAddress, destroyed } = socket;
  if (remoteAddress !== undefined) return remoteAddress;
  // A connection that was reset has lost the address of its peer, but not its own, until it is destroyed.
  return destroyed || localAddress !== undefined ? null : UNIX_SOCKET;
}

export function incomingOf<Raw>(request: NodeRequest, raw: Raw): Incoming<Raw> {
  return {
    method: request.method ?? "GET",
    address: peerAddress(request),
    header(name) {
      const value = request.headers[name];
      return value === undefined ? null : String(value);
    },
    identity: request,
    raw,
  };
}

/**
 * Calls back once with the status of the response, or null where it never began.
 *
 * The connection counts as well as the response: where requests are pipelined, a response that waits for its turn emits no
 * "close" when the client hangs up, and in HTTP/2 it may have done so already.
 */
export function whenAnswered(
  { socket }: NodeRequest,
  response: NodeResponse,
  told: (status: number | null) => void,
): void {
  let isTold = false;
  const waiting = socket ? waitingOn(socket) : new Set<() => void>();
  const tell = (): void => {
    waiting.delete(tell);
    if (isTold) return;
    isTold = true;
    told(response.headersSent ? response.statusCode : null);
  };
  // null is an HTTP/2 stream that is over. A request of a serverless platform has no socket at all, and only its response counts.
  if (response.closed || socket === null || socket?.destroyed) {
    tell();
    return;
  }
  waiting.add(tell);
  response.once("close", tell);
}

/** The requests that wait for an outcome, by connection: one listener for all of them. */
const waitingBySocket = new WeakMap<NodeSocket, Set<() => void>>();

function waitingOn(socket: NodeSocket): Set<() => void> {
  const known = waitingBySocket.get(socket);
  if (known) return known;
  const waiting = new Set<() => void>();
  waitingBySocket.set(socket, waiting);
  socket.once?.("close", () => {
    for (const tell of [...waiting]) tell();
  });
  return waiting;
}

/** The value of a header, as Node keeps it, as one text. */
export function headerText(value: number | string | readonly string[] | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === "object" ? value.join(", ") : `${value}`;
}
