import { everyClient } from "./clients.ts";
import { runMatrix } from "./matrix.ts";

runMatrix(["embedded"], everyClient());
