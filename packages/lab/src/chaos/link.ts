/**
 * NetworkLink: two network namespaces with a cable between them. A server at one end, workers at the other: what the
 * cable loses is lost without a word to either, as in a real partition, and TCP sends it again when the cable is whole.
 *
 * Needs root and iproute2, and neither iptables nor nft: packets to a wrong hardware address go nowhere.
 */

import { spawnSync } from "node:child_process";
import { atExit } from "@holdfast/conformance";

const SERVER_IP = "10.213.0.1";
const WORKER_IP = "10.213.0.2";
const NOBODY = "02:00:00:00:00:fe";
const DEVICE = "cable";

export type Loses = "requests" | "replies" | "both";

interface End {
  readonly namespace: string;
  readonly ip: string;
  readonly mac: string;
}

export class NetworkLink {
  readonly serverIp = SERVER_IP;
  readonly #server: End;
  readonly #worker: End;
  #forget = () => {};

  private constructor(id: string) {
    this.#server = { namespace: `${id}s`, ip: SERVER_IP, mac: "02:00:00:00:00:01" };
    this.#worker = { namespace: `${id}w`, ip: WORKER_IP, mac: "02:00:00:00:00:02" };
  }

  /** Or why there is none. `id` must be nobody else's on this machine. */
  static lay(id: string): NetworkLink | string {
    if (process.platform !== "linux") return "only Linux has network namespaces";
    if (process.getuid?.() !== 0) return "only root may make network namespaces";
    const link = new NetworkLink(id);
    link.#forget = atExit(() => link.remove());
    try {
      link.#lay();
      return link;
    } catch (error) {
      link.remove();
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Words before a program that put it at this end. */
  at(end: "server" | "worker"): string[] {
    const { namespace } = end === "server" ? this.#server : this.#worker;
    return ["ip", "netns", "exec", namespace];
  }

  lose(what: Loses): void {
    if (what !== "replies") neighbour(this.#worker, this.#server, NOBODY);
    if (what !== "requests") neighbour(this.#server, this.#worker, NOBODY);
  }

  heal(): void {
    neighbour(this.#worker, this.#server, this.#server.mac);
    neighbour(this.#server, this.#worker, this.#worker.mac);
  }

  remove(): void {
    this.#forget();
    for (const { namespace } of [this.#server, this.#worker]) spawnSync("ip", ["netns", "del", namespace]);
  }

  #lay(): void {
    const [server, worker] = [this.#server, this.#worker];
    for (const { namespace } of [server, worker]) ip("netns", "add", namespace);
    const peer = ["peer", "name", DEVICE, "address", worker.mac, "netns", worker.namespace];
    ip("-n", server.namespace, "link", "add", DEVICE, "address", server.mac, "type", "veth", ...peer);
    for (const { namespace, ip: address } of [server, worker]) {
      ip("-n", namespace, "address", "add", `${address}/24`, "dev", DEVICE);
      for (const device of ["lo", DEVICE]) ip("-n", namespace, "link", "set", device, "up");
    }
    this.heal();
  }
}

function neighbour(at: End, other: End, mac: string): void {
  const entry = ["neighbour", "replace", other.ip, "lladdr", mac, "dev", DEVICE, "nud", "permanent"];
  ip("-n", at.namespace, ...entry);
}

function ip(...args: string[]): void {
  const { error, status, stderr } = spawnSync("ip", args, { encoding: "utf8" });
  if (error) throw new Error("no ip (apt-get install iproute2)");
  if (status !== 0) throw new Error(`ip ${args.join(" ")}: ${stderr.trim()}`);
}
