import { everyClient } from "./clients.ts";
import { runNounsOn } from "./matrix.ts";

runNounsOn("redis-server", everyClient());
