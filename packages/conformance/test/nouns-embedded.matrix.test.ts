import { everyClient } from "./clients.ts";
import { runNouns } from "./matrix.ts";

runNouns(["embedded"], everyClient());
