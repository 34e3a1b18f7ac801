/** The programs of the application: web servers behind one port, workers, and the embedded PostgreSQL. */
import { fork } from "node:child_process";
import cluster from "node:cluster";
import { fileURLToPath } from "node:url";
import { type Setup, setupEnvironment } from "../setup.js";
import { Crew } from "./crew.js";

type OnFailure = (message: string) => void;

function path(program: string): string {
  return fileURLToPath(new URL(`../${program}.js`, import.meta.url));
}

/** node:cluster hands connections to them round robin. */
export function webServers(setup: Setup, onFailure: OnFailure): Crew {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  const spawn = (port: number | null) => {
    cluster.setupPrimary({ exec: path("web/server"), args: [] });
    const worker = cluster.fork(setupEnvironment({ ...setup, port: port ?? setup.port }));
    return { process: worker.process, retire: () => worker.disconnect() };
  };
  return new Crew({ name: "web server", spawn, onFailure });
}

export function workers(setup: Setup, onFailure: OnFailure): Crew {
  const spawn = () => {
    const child = fork(path("worker"), [], { env: { ...process.env, ...setupEnvironment(setup) } });
    return { process: child, retire: () => {} };
  };
  return new Crew({ name: "worker", spawn, onFailure });
}

/** One program. After a crash another one goes on with the data in the folder, at the same port. */
export function embeddedPostgres(folder: string, onFailure: OnFailure): Crew {
  const spawn = (port: number | null) => ({
    process: fork(path("data/embedded-program"), [folder, String(port ?? 0)]),
    retire: () => {},
  });
  return new Crew({ name: "embedded PostgreSQL", spawn, onFailure });
}
