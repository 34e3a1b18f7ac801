/**
 * HttpFence: the server's side. It refuses a request whose token is older than one that its resource has served.
 *
 * It does not authenticate: put it behind authentication. A caller that may name a token may also name the largest one,
 * and so shut out everybody else.
 */
import { InvalidArgumentError } from "../../errors.js";
import type { Fenced } from "../fenced.js";
import { HOLDER_HEADER, holderOf, TOKEN_HEADER } from "./headers.js";
import { problemResponse } from "./problem.js";

/** The store of the newest token of each resource. */
export interface FenceStore {
  /**
   * Raises the fence of a resource to a holder's token, in one step, unless a newer holder, or another one of an equal
   * token, was there. The same holder may come again.
   * @returns null, or the token that refuses
   */
  enter(resource: string, holder: Fenced): Promise<bigint | null>;
}

export interface HttpFenceOptions {
  readonly store: FenceStore;
  /**
   * The name of the thing that a request is about. Requests for one thing must have one name, however their URLs are
   * written. @default the path of the URL, with `%64` and the like decoded where RFC 3986 says that it is the same
   */
  readonly resource?: ((request: Request) => string) | undefined;
  /**
   * Which requests must carry a token; others may. `writes` are all but GET, HEAD and OPTIONS.
   * @default "writes"
   */
  readonly required?: "writes" | "always" | "never" | undefined;
}

const READS = ["GET", "HEAD", "OPTIONS"];
const OPTIONS = ["store", "resource", "required"];

export class HttpFence {
  readonly #store: FenceStore;
  readonly #resource: (request: Request) => string;
  readonly #required: "writes" | "always" | "never";
  /** The last handler in line, for each resource that has one running. */
  readonly #lines = new Map<string, Promise<void>>();

  /** @throws {InvalidArgumentError} */
  constructor(options: HttpFenceOptions) {
    if (typeof options !== "object" || options === null)
      throw new InvalidArgumentError("options", "must be an object");
    for (const key of Object.keys(options)) {
      if (!OPTIONS.includes(key))
        throw new InvalidArgumentError(key, `is not an option here: use ${OPTIONS.join(", ")}`);
    }
    const { store, resource = pathOf, required = "writes" } = options;
    if (typeof store?.enter !== "function") throw new InvalidArgumentError("store", "must have enter()");
    if (typeof resource !== "function") throw new InvalidArgumentError("resource", "must be a function");
    if (!["writes", "always", "never"].includes(required))
      throw new InvalidArgumentError("required", 'must be "writes", "always" or "never"');
    this.#store = store;
    this.#resource = resource;
    this.#required = required;
  }

  /**
   * The answer to a request that must not go on, or undefined for one that may: 412 for an overtaken holder, 400 for
   * malformed headers, 428 where a token is required but missing.
   *
   * It checks once, before the handler. A handler that is overtaken while it works is not stopped: use `handle`, or hand
   * `holderOf(request)` on to data that has a fence of its own.
   * @throws the error of the store; the request must not go on then
   */
  async check(request: Request): Promise<Response | undefined> {
    const holder = this.#read(request);
    if (holder instanceof Response) return holder;
    return holder === null ? undefined : this.#enter(this.#resourceOf(request), holder);
  }

  /**
   * Answers a request, and lets no newer holder in before its handler has settled: in this process, the handlers of one
   * resource run one after the other. Requests without a token do not wait for their turn.
   * @throws the error of the store or of the handler
   */
  async handle(
    request: Request,
    handler: (holder: Fenced | null) => Response | PromiseLike<Response>,
  ): Promise<Response> {
    const holder = this.#read(request);
    if (holder instanceof Response) return holder;
    if (holder === null) return handler(null);
    const resource = this.#resourceOf(request);
    return this.#inLine(resource, async () => (await this.#enter(resource, holder)) ?? handler(holder));
  }

  #resourceOf(request: Request): string {
    const resource: unknown = this.#resource(request);
    if (typeof resource === "string" && resource !== "") return resource;
    throw new InvalidArgumentError("resource", "must return text that is not empty");
  }

  async #inLine(resource: string, work: () => Promise<Response>): Promise<Response> {
    const before = this.#lines.get(resource) ?? Promise.resolve();
    const turn = before.then(work);
    const settled = turn.then(
      () => {},
      () => {},
    );
    this.#lines.set(resource, settled);
    try {
      return await turn;
    } finally {
      if (this.#lines.get(resource) === settled) this.#lines.delete(resource);
    }
  }

  async #enter(resource: string, holder: Fenced): Promise<Response | undefined> {
    const seen = await this.#store.enter(resource, holder);
    if (seen === null) return undefined;
    return problemResponse({
      status: 412,
      title: "Stale fencing token",
      detail: `${resource} has served token ${seen}: the holder of ${holder.fence} was overtaken and must stop.`,
      code: "STALE_TOKEN",
      resource,
      token: String(holder.fence),
      seen: String(seen),
    });
  }

  /** The holder, null without one where that may be, or the refusal. */
  #read(request: Request): Fenced | null | Response {
    let holder: Fenced | null;
    try {
      holder = holderOf(request);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      const detail = `${error.message}.`;
      return problemResponse({
        status: 400,
        title: "Malformed fencing header",
        detail,
        code: "INVALID_TOKEN",
      });
    }
    const required =
      this.#required === "writes" ? !READS.includes(request.method) : this.#required === "always";
    if (holder !== null || !required) return holder;
    return problemResponse({
      status: 428,
      title: "Fencing token required",
      detail: `Hold the lock of this resource, and send ${TOKEN_HEADER} and ${HOLDER_HEADER}.`,
      code: "TOKEN_REQUIRED",
    });
  }
}

/** RFC 3986, 6.2.2: an escaped letter, digit, or one of -._~ is that character; other escapes are in upper case. */
function pathOf(request: Request): string {
  return new URL(request.url).pathname.replace(/%[0-9a-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : escaped.toUpperCase();
  });
}
