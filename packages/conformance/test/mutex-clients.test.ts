import { everyLibrary } from "./clients.ts";
import { runMatrix } from "./matrix.ts";

runMatrix(["redis-server"], everyLibrary());
