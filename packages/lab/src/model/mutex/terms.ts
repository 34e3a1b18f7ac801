/** What a run of the mutex model allows to happen. */
export interface MutexTerms {
  /** How many acquires each client makes, one after the other. */
  readonly acquires: readonly number[];
  /** Of a lease, in moments. */
  readonly ttl: number;
  /** How many things go wrong: `isFault` in actions.ts says which those are. */
  readonly faults: number;
  /** Whether time passes. Without it there are no signs of life, no renewals and no second looks. */
  readonly time: boolean;
  readonly renewals: boolean;
  /** The server's clock may jump ahead: then a lease may end at the server at any moment. */
  readonly jumps: boolean;
  /** The guard of the protocol that is left out. */
  readonly without: Guard | null;
}

/** Each is a line or two of the scripts or of the client; mutants.ts has what breaks without it. */
export type Guard =
  | "a request that gave up is banned"
  | "a release checks the id"
  | "a renewal checks the id"
  | "subscribed first, in line second"
  | "written first, told second"
  | "an answer counts from when its question was sent"
  | "a grant by message counts from the sign of life it names"
  | "a renewal counts from when it was sent"
  | "a grant names its request"
  | "a hold that lapsed stays lapsed"
  | "a release hands over"
  | "take looks at the flag"
  | "the own id is success"
  | "waiters give signs of life"
  | "the last token outlives the lease"
  | "who stands in line raises the flag"
  | "giving up is told to the server";
