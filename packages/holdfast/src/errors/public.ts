/**
 * What index.ts shows of refusals.ts. A bundler that splits code loads at the start every file from which
 * index.ts passes a name on, when a later chunk needs it too; behind a constant it stays with the later one.
 */
import * as refusals from "./refusals.js";

export type KnownServerCode = refusals.KnownServerCode;
export type ClientOverloadedError = refusals.ClientOverloadedError;
export const ClientOverloadedError: typeof refusals.ClientOverloadedError = refusals.ClientOverloadedError;
export type MissingRowError = refusals.MissingRowError;
export const MissingRowError: typeof refusals.MissingRowError = refusals.MissingRowError;
export type ServerError = refusals.ServerError;
export const ServerError: typeof refusals.ServerError = refusals.ServerError;
export type StaleHolderError = refusals.StaleHolderError;
export const StaleHolderError: typeof refusals.StaleHolderError = refusals.StaleHolderError;
export type StaleTokenError = refusals.StaleTokenError;
export const StaleTokenError: typeof refusals.StaleTokenError = refusals.StaleTokenError;
export type UnavailableError = refusals.UnavailableError;
export const UnavailableError: typeof refusals.UnavailableError = refusals.UnavailableError;
