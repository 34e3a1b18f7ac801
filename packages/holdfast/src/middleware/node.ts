/** What Node's own server objects have in common for the shells of Express and Fastify. */
import type { Incoming } from "./core.js";

/** An `IncomingMessage`, as far as it is needed. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** A `ServerResponse`, as far as it is needed. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly closed: boolean;
  once(event: "close", listener: () => void): unknown;
  getHeader(name: string): number | string | string[] | undefined;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
}

export function incomingOf<Raw>(request: NodeRequest, raw: Raw): Incoming<Raw> {
  return {
    method: request.method ?? "GET",
    address: request.socket.remoteAddress ?? null,
    header(name) {
      const value = request.headers[name];
      return value === undefined ? null : String(value);
    },
    identity: request,
    raw,
  };
}

/** Calls back once with the status of the response, or null where it was never begun. */
export function whenAnswered(response: NodeResponse, told: (status: number | null) => void): void {
  const tell = (): void => told(response.headersSent ? response.statusCode : null);
  if (response.closed) tell();
  else response.once("close", tell);
}

/** The value of a header, as Node keeps it, as one text. */
export function headerText(value: number | string | readonly string[] | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === "object" ? value.join(", ") : `${value}`;
}
