import { runQuorum } from "./quorum.ts";

runQuorum(3);
