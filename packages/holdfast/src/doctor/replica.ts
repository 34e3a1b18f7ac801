/** Checks whether the `replica` option names a replica of this very server, so that signals are heard there as well. */
import type { RedisPort } from "../redis/port.js";
import type { Finding } from "./report.js";
import { type Fields, readServer } from "./server-state.js";

/** @param ofPrimary what INFO says of the server; null when it could not be read */
export async function checkReplica(
  ofPrimary: Fields | null,
  replica: RedisPort,
  timeoutMs: number,
): Promise<Finding[]> {
  const { info, infoError } = await readServer(replica, timeoutMs);
  const found = info ? problemOf(ofPrimary, info) : `the replica does not answer: ${infoError?.message}`;
  if (found === null) return [];
  return [
    {
      code: "signal-replica",
      severity: "warning",
      found,
      consequence:
        "Signals are heard by the connection to the server alone: what comes while it is down is lost.",
      remedy: "Let the option `replica` name a replica that follows this server, or leave it out.",
    },
  ];
}

function problemOf(ofPrimary: Fields | null, ofReplica: Fields): string | null {
  const role = ofReplica.get("role");
  if (role !== "slave") return `the server that \`replica\` names is no replica, but a ${role}`;
  if (ofReplica.get("master_link_status") === "down") return "the replica has lost the link to its primary";
  const [its, own] = [ofReplica.get("master_replid"), ofPrimary?.get("master_replid")];
  return its && own && its !== own ? "the replica follows another server" : null;
}
