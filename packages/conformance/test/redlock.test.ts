import { mutexThemes, redlockThemes } from "@holdfast/conformance";
import { ioredis, iovalkey, nodeRedis } from "./clients.ts";
import { runQuorum } from "./redlock-matrix.ts";

// Real processes and real seconds of quarantine are left to the matrix, and so is GLIDE, which makes every case longer.
const { processes: _processes, ...mutex } = mutexThemes;
const { quarantine: _quarantine, ...redlock } = redlockThemes;

runQuorum(
  3,
  [ioredis(), nodeRedis(), iovalkey()],
  [...Object.values(mutex).flat(), ...Object.values(redlock).flat()],
);
