import { everyClient } from "./clients.ts";
import { runNounsOn } from "./matrix.ts";

runNounsOn("valkey-server", everyClient());
